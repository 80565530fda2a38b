/** The bound of a cache of so many entries. Its memory is taken as they come: that of lru-cache's own `max` is reserved at once. */
export function entriesMax(count: number) {
  return { maxSize: count, sizeCalculation: () => 1 }
}

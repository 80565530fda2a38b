/** A partition or sort transform. An unknown name is kept as text and never written with. Spec: Partition Transforms. */
export type Transform =
  | { readonly kind: 'identity' | 'year' | 'month' | 'day' | 'hour' | 'void' }
  | { readonly kind: 'bucket'; readonly bucketCount: number }
  | { readonly kind: 'truncate'; readonly width: number }
  | { readonly kind: 'unknown-transform'; readonly text: string }

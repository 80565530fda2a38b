package conformance;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.Schema;
import org.apache.iceberg.TableScan;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.expressions.Expression.Operation;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.expressions.ExpressionVisitors;
import org.apache.iceberg.expressions.Literal;
import org.apache.iceberg.expressions.UnboundPredicate;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.types.Conversions;
import org.apache.iceberg.types.Type.TypeID;
import org.apache.iceberg.types.Types;

/**
 * Why a server may plan a file that the client's planner drops. Each file needs a reason in its own metrics:
 *
 * <ul>
 *   <li>{@code nan}: it may hold NaN, which is above every number for Spark and Trino, under {@code >}, {@code >=}, {@code !=} or {@code not in};
 *   <li>{@code zero}: a bound is a zero and the filter compares with a zero, whose sign the client's planner minds and engines do not;
 *   <li>{@code uuid}: the client orders UUIDs as signed numbers, writers and the specification as unsigned bytes.
 * </ul>
 */
final class Supersets {
  /** The reasons; empty when there are no further files, when one of them has no reason, and when files are missing. */
  static Set<String> explain(Set<String> expected, Set<String> actual, Expression filter, Supplier<TableScan> unfiltered) {
    Set<String> extra = new TreeSet<>(actual);
    extra.removeAll(expected);
    if (extra.isEmpty() || !actual.containsAll(expected)) {
      return Set.of();
    }
    TableScan scan = unfiltered.get();
    List<UnboundPredicate<?>> leaves = leavesOf(filter);
    Map<String, DataFile> files = filesOf(scan);
    Set<String> names = new TreeSet<>();
    for (String key : extra) {
      String name = nameOf(files.get(key.substring(0, key.lastIndexOf(' '))), leaves, scan.schema());
      if (name == null) {
        return Set.of();
      }
      names.add(name);
    }
    return names;
  }

  private static String nameOf(DataFile file, List<UnboundPredicate<?>> leaves, Schema schema) {
    for (UnboundPredicate<?> leaf : leaves) {
      Types.NestedField field = schema.caseInsensitiveFindField(leaf.ref().name());
      TypeID type = field.type().typeId();
      if (type == TypeID.UUID && leaf.literals() != null) {
        return "uuid";
      }
      if (type != TypeID.FLOAT && type != TypeID.DOUBLE) {
        continue;
      }
      Map<Integer, Long> nans = file.nanValueCounts();
      if (Set.of(Operation.GT, Operation.GT_EQ, Operation.NOT_EQ, Operation.NOT_IN).contains(leaf.op())
          && (nans == null || nans.getOrDefault(field.fieldId(), 1L) > 0)) {
        return "nan";
      }
      if (leaf.literals() != null && leaf.literals().stream().anyMatch(Supersets::isZero)
          && (isZero(field, file.lowerBounds()) || isZero(field, file.upperBounds()))) {
        return "zero";
      }
    }
    return null;
  }

  /**
   * Whether the client may take the filter for proven by the partition of a file where it is not: it puts nulls below every value, so that
   * {@code region < 'x'} is proven for the partition of nulls, and -0.0 below 0.0. Engines drop rows with null, and know one zero.
   */
  static boolean isLowest(FileScanTask task) {
    for (int i = 0; i < task.spec().fields().size(); i++) {
      Object value = task.file().partition().get(i, Object.class);
      if (value == null || ((value instanceof Double || value instanceof Float) && ((Number) value).doubleValue() == 0)) {
        return true;
      }
    }
    return false;
  }

  private static boolean isZero(Literal<?> literal) {
    return literal.value() instanceof Number number && number.doubleValue() == 0;
  }

  private static boolean isZero(Types.NestedField field, Map<Integer, ByteBuffer> bounds) {
    ByteBuffer bound = bounds == null ? null : bounds.get(field.fieldId());
    return bound != null && Conversions.<Number>fromByteBuffer(field.type(), bound).doubleValue() == 0;
  }

  private static List<UnboundPredicate<?>> leavesOf(Expression filter) {
    List<UnboundPredicate<?>> leaves = new ArrayList<>();
    ExpressionVisitors.visit(
        Expressions.rewriteNot(filter),
        new ExpressionVisitors.ExpressionVisitor<Void>() {
          @Override
          public <T> Void predicate(UnboundPredicate<T> predicate) {
            leaves.add(predicate);
            return null;
          }
        });
    return leaves;
  }

  private static Map<String, DataFile> filesOf(TableScan scan) {
    Map<String, DataFile> files = new HashMap<>();
    try (CloseableIterable<FileScanTask> planned = scan.includeColumnStats().planFiles()) {
      planned.forEach(task -> files.put(task.file().location(), task.file()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return files;
  }

  private Supersets() {}
}

package conformance;

import java.io.IOException;
import java.util.Locale;
import java.util.Map;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.HasTableOperations;
import org.apache.iceberg.Table;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.rest.KitClient;
import org.apache.iceberg.rest.RESTCatalog;

/**
 * How long the Java library takes to plan scans of a table for itself: a line {@code plan<TAB>what<TAB>milliseconds<TAB>files}
 * for each. Arguments: NAMESPACE.TABLE HOSTNAME FROM TO.
 */
public final class PlanTimes {
  private static final int RUNS = 5;

  private PlanTimes() {}

  public static void main(String[] args) throws IOException {
    Expression selective =
        Expressions.and(
            Expressions.greaterThanOrEqual("ts", args[2]),
            Expressions.lessThan("ts", args[3]),
            Expressions.equal("hostname", args[1]));
    try (RESTCatalog catalog = KitClient.connect(Map.of("scan-planning-mode", "client"))) {
      Table loaded = catalog.loadTable(TableIdentifier.parse(args[0]));
      Table table = new BaseTable(((HasTableOperations) loaded).operations(), loaded.name());
      time(table, "1 h × 1 series", selective);
      time(table, "all", Expressions.alwaysTrue());
    }
  }

  private static void time(Table table, String what, Expression filter) throws IOException {
    for (int run = 1; run <= RUNS; run++) {
      long started = System.nanoTime();
      long count = 0;
      try (CloseableIterable<FileScanTask> tasks = table.newScan().filter(filter).planFiles()) {
        for (FileScanTask task : tasks) {
          count += task.length() > 0 ? 1 : 0;
        }
      }
      double tookMs = (System.nanoTime() - started) / 1e6;
      System.out.printf(Locale.ROOT, "plan\t%s, run %d\t%.1f\t%d%n", what, run, tookMs, count);
    }
  }
}

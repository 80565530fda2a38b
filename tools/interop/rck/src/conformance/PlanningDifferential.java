package conformance;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.HasTableOperations;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Scan;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableScan;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.exceptions.BadRequestException;
import org.apache.iceberg.exceptions.ValidationException;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.expressions.ExpressionUtil;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.rest.KitClient;
import org.apache.iceberg.rest.RESTCatalog;
import org.apache.iceberg.util.SnapshotUtil;

/**
 * Builds tables of many shapes through a REST catalog and plans each of many filters twice: in the Java client, and by
 * the server's planning routes. Both must give the same tasks: path, start, length, delete files, residual, and the
 * facts of the data file. The server may give more files where the client drops some that have rows: see Supersets. Scans of
 * what was appended between two snapshots are compared with the client's own incremental scans; a scan that asks for some
 * rows may get fewer files, when those are sure to hold as many.
 *
 * <p>System properties: {@code plan.filters} per shape (60), {@code plan.seed} (1), {@code plan.shapes} and
 * {@code plan.skip} comma lists, {@code plan.keep} true to leave the tables behind.
 */
public final class PlanningDifferential {
  private static final int FILTERS = Integer.getInteger("plan.filters", 60);
  private static final long SEED = Long.getLong("plan.seed", 1);
  private static final int SHOWN = 5;
  private static final long MIN_ROWS = 15;

  private int passed = 0;
  private int failed = 0;
  // How much the passes say: plans with tasks, plans without any, filters refused by both sides (by client failure).
  private int withTasks = 0;
  private int withDeletes = 0;
  private int withResidual = 0;
  private int empty = 0;
  private int refused = 0;
  private int appends = 0;
  private int minRowsCut = 0;

  /** Filters on which the Java client itself crashes: nothing to compare with, neither passed nor failed. */
  private final Map<String, Integer> noOracle = new TreeMap<>();

  /** Plans with more files than the client's, by the reason that each of those files has; see Supersets. */
  private final Map<String, Integer> supersets = new TreeMap<>();

  private long clientNanos = 0;
  private long serverNanos = 0;

  public static void main(String[] args) throws IOException {
    PlanningDifferential run = new PlanningDifferential();
    try (RESTCatalog client = KitClient.connect(Map.of("scan-planning-mode", "client"));
        RESTCatalog server = KitClient.connect(Map.of("scan-planning-mode", "server"))) {
      run.all(client, server);
    }
    System.out.printf("%d passed, %d failed%n", run.passed, run.failed);
    System.exit(run.failed == 0 && run.passed > 0 ? 0 : 1);
  }

  private void all(RESTCatalog client, RESTCatalog server) {
    Namespace namespace = Namespace.of("planning_" + UUID.randomUUID().toString().substring(0, 8));
    client.createNamespace(namespace);
    List<String> wanted = names("plan.shapes");
    List<String> unwanted = names("plan.skip");
    for (Map.Entry<String, TableShapes.Shape> shape : TableShapes.all().entrySet()) {
      if ((wanted.isEmpty() || wanted.contains(shape.getKey())) && !unwanted.contains(shape.getKey())) {
        one(client, server, shape.getKey(), shape.getValue(), TableIdentifier.of(namespace, shape.getKey()));
      }
    }
    int n = Math.max(1, passed + failed);
    System.out.printf("mean plan: client %.1f ms, server %.1f ms%n", clientNanos / 1e6 / n, serverNanos / 1e6 / n);
    System.out.printf(
        "agreeing plans: %d with tasks (%d with deletes, %d with a residual), %d empty, %d refused by both%n",
        withTasks, withDeletes, withResidual, empty, refused);
    System.out.printf("of them: %d incremental with tasks, %d ended early with rows enough%n", appends, minRowsCut);
    supersets.forEach((name, count) -> System.out.println("more files than the client, named: " + count + "x " + name));
    noOracle.forEach((reason, count) -> System.out.println("not compared, the client crashes: " + count + "x " + reason));
    if (!Boolean.getBoolean("plan.keep")) {
      client.listTables(namespace).forEach(table -> client.dropTable(table, true));
      client.dropNamespace(namespace);
    }
  }

  private static List<String> names(String property) {
    String value = System.getProperty(property, "");
    return value.isEmpty() ? List.of() : List.of(value.split(","));
  }

  private void one(RESTCatalog client, RESTCatalog server, String shape, TableShapes.Shape build, TableIdentifier name) {
    int before = failed;
    int count = 0;
    try {
      build.build(client, name);
      Table local = local(client.loadTable(name));
      Table remote = server.loadTable(name);
      if (!KitClient.plansOnServer(remote)) {
        throw new IllegalStateException("the client did not switch to server planning: " + remote.getClass().getName());
      }
      Map<String, Variant> variants = variants(local);
      List<String> names = new ArrayList<>(variants.keySet());
      for (Map.Entry<String, Expression> filter : Filters.of(local.schema(), FILTERS, SEED + shape.hashCode()).entrySet()) {
        Set<String> chosen = new TreeSet<>(List.of("plain", names.get(count % names.size())));
        for (String variant : chosen) {
          compare(new Case(shape, variant, filter.getKey(), filter.getValue(), variants.get(variant)), local, remote);
          count++;
        }
      }
      Expression upperCase = Expressions.greaterThanOrEqual("ID", 9L);
      compare(new Case(shape, "upper-case", "ID >= 9", upperCase, Variant.of(scan -> scan.caseSensitive(false))), local, remote);
    } catch (IOException | RuntimeException e) {
      fail(shape + ": " + e.getClass().getSimpleName() + ": " + e.getMessage());
    }
    System.out.printf("%s %s: %d plans, %d differ%n", failed == before ? "ok  " : "FAIL", shape, count, failed - before);
  }

  /** Plans in this process whatever mode the server asks for. */
  private static Table local(Table table) {
    return new BaseTable(((HasTableOperations) table).operations(), table.name());
  }

  private static Map<String, Variant> variants(Table table) {
    Map<String, Variant> variants = new LinkedHashMap<>();
    variants.put("plain", Variant.of(scan -> scan));
    // Without columns the 1.11.0 client asks the server for no statistics at all.
    List<String> columns = table.schema().columns().stream().map(field -> field.name()).limit(9).toList();
    variants.put("stats", Variant.of(scan -> scan.includeColumnStats(columns)));
    variants.put("select", Variant.of(scan -> scan.select("id")));
    variants.put("min-rows", Variant.of(scan -> scan.minRowsRequested(MIN_ROWS)));
    for (Snapshot snapshot : table.snapshots()) {
      // A filter names columns of the present schema; an older snapshot may not have them. Both sides must then refuse.
      variants.put("snapshot-" + snapshot.sequenceNumber(), Variant.of(scan -> scan.useSnapshot(snapshot.snapshotId())));
    }
    table.refs().keySet().stream()
        .filter(ref -> !ref.equals("main"))
        .forEach(ref -> variants.put("ref-" + ref, Variant.of(scan -> scan.useRef(ref))));
    variants.putAll(incremental(table));
    return variants;
  }

  /** From the oldest snapshot of main to the head, and from the last but one. Not where the two sides read by different schemas. */
  private static Map<String, Variant> incremental(Table table) {
    Map<String, Variant> variants = new LinkedHashMap<>();
    List<Long> ids = table.currentSnapshot() == null ? List.of() : SnapshotUtil.currentAncestorIds(table);
    if (ids.size() < 2 || table.schemas().size() > 1) {
      return variants;
    }
    variants.put("appends-all", Variant.appends(ids.get(ids.size() - 1), ids.get(0)));
    variants.put("appends-last", Variant.appends(ids.get(1), ids.get(0)));
    return variants;
  }

  /** How a table is scanned: by the client, by the server, and the client's plain scan to explain further files with. */
  private record Variant(
      BiFunction<Table, Expression, Scan<?, FileScanTask, ?>> local,
      BiFunction<Table, Expression, TableScan> remote,
      UnaryOperator<TableScan> plain) {
    static Variant of(UnaryOperator<TableScan> refine) {
      return new Variant(
          (table, filter) -> refine.apply(table.newScan()).filter(filter),
          (table, filter) -> refine.apply(table.newScan()).filter(filter),
          refine);
    }

    static Variant appends(long from, long to) {
      return new Variant(
          (table, filter) -> table.newIncrementalAppendScan().fromSnapshotExclusive(from).toSnapshot(to).filter(filter),
          (table, filter) -> KitClient.appendsBetween(table, from, to).filter(filter),
          scan -> scan.useSnapshot(to));
    }
  }

  /** One plan to compare: a filter on a variant of the scan of one table. */
  private record Case(String shape, String variant, String label, Expression filter, Variant scans) {
    Scan<?, FileScanTask, ?> local(Table table) {
      return scans.local.apply(table, filter);
    }

    Scan<?, FileScanTask, ?> remote(Table table) {
      return scans.remote.apply(table, filter);
    }
  }

  private void compare(Case one, Table local, Table remote) {
    boolean stats = one.variant.equals("stats");
    long t0 = System.nanoTime();
    Outcome expected = Outcome.of(one.local(local), stats);
    long t1 = System.nanoTime();
    Outcome actual;
    try {
      actual = Outcome.of(one.remote(remote), stats);
    } catch (RuntimeException e) {
      actual = new Outcome(Map.of(), e);
    }
    clientNanos += t1 - t0;
    serverNanos += System.nanoTime() - t1;
    if (expected.crashed(actual)) {
      noOracle.merge(reason(expected.failure), 1, Integer::sum);
      return;
    }
    Set<String> names = Supersets.explain(expected.keys(), actual.keys(), one.filter, () -> one.scans.plain.apply(local.newScan()));
    if (!names.isEmpty()) {
      // Each further file has a named reason: what is left must be equal.
      names.forEach(name -> supersets.merge(name, 1, Integer::sum));
      actual = actual.only(expected.keys());
    }
    if (one.variant.equals("min-rows") && actual.failure == null && actual.sureRows() >= MIN_ROWS) {
      // Enough: the server may leave out the rest, and does it when it gave fewer than there are.
      minRowsCut += actual.tasks.size() < expected.tasks.size() ? 1 : 0;
      expected = expected.only(actual.keys());
    }
    String difference = expected.differenceTo(actual, local);
    if (difference == null) {
      passed++;
      tally(expected, actual);
      appends += one.variant.startsWith("appends") && !actual.tasks.isEmpty() ? 1 : 0;
    } else {
      fail(one.shape + " [" + one.variant + "] " + one.label + ": " + difference);
    }
  }

  private void tally(Outcome expected, Outcome actual) {
    if (expected.failure != null) {
      refused++;
    } else if (expected.tasks.isEmpty()) {
      empty++;
    } else {
      withTasks++;
      withDeletes += expected.tasks.values().stream().anyMatch(task -> !task.deletes().isEmpty()) ? 1 : 0;
      withResidual += expected.tasks.values().stream().anyMatch(task -> task.residual().op() != Expression.Operation.TRUE) ? 1 : 0;
    }
  }

  private static String reason(RuntimeException failure) {
    String text = String.valueOf(failure.getMessage()).lines().findFirst().orElse("");
    return failure.getClass().getSimpleName() + ": " + text.substring(0, Math.min(70, text.length()));
  }

  private final Map<String, Integer> shown = new TreeMap<>();

  private void fail(String text) {
    failed++;
    String shape = text.substring(0, Math.max(0, text.indexOf(' ')));
    if (shown.merge(shape, 1, Integer::sum) <= SHOWN) {
      System.out.println("  " + (text.length() > 700 ? text.substring(0, 700) + "…" : text));
    }
  }

  /** What a plan gave: tasks by (path, start, length), or the failure. */
  private record Outcome(Map<String, Task> tasks, RuntimeException failure) {
    /** {@code provesTooMuch}: the partition has a null or a zero, which the client's residuals take for the lowest value. */
    record Task(
        Set<String> deletes, Expression residual, String facts, PartitionSpec spec, boolean provesTooMuch, long rows) {}

    static Outcome of(Scan<?, FileScanTask, ?> scan, boolean stats) {
      Map<String, Task> tasks = new TreeMap<>();
      try (CloseableIterable<FileScanTask> planned = scan.planFiles()) {
        for (FileScanTask task : planned) {
          String key = task.file().location() + " " + task.start() + "+" + task.length();
          Set<String> deletes = new TreeSet<>();
          for (DeleteFile delete : task.deletes()) {
            deletes.add(facts(delete));
          }
          String facts = task.file().recordCount() + " " + facts(task, stats);
          long rows = task.file().recordCount();
          Task made = new Task(deletes, task.residual(), facts, task.spec(), Supersets.isLowest(task), rows);
          if (tasks.put(key, made) != null) {
            return new Outcome(Map.of(), new IllegalStateException("planned twice: " + key));
          }
        }
        return new Outcome(tasks, null);
      } catch (IOException e) {
        return new Outcome(Map.of(), new RuntimeException(e));
      } catch (RuntimeException e) {
        return new Outcome(Map.of(), e);
      }
    }

    private static String facts(DeleteFile delete) {
      return String.join(
          " ",
          delete.location(),
          delete.content().name(),
          String.valueOf(delete.format()),
          "offset=" + delete.contentOffset(),
          "size=" + delete.contentSizeInBytes(),
          "of=" + delete.referencedDataFile(),
          "ids=" + delete.equalityFieldIds(),
          "spec=" + delete.specId(),
          "rows=" + delete.recordCount());
    }

    private static String facts(FileScanTask task, boolean stats) {
      var file = task.file();
      String base = String.format(
          Locale.ROOT, "%s %d bytes spec=%d partition=%s order=%s splits=%s first-row=%s",
          file.format(), file.fileSizeInBytes(), file.specId(), task.spec().partitionToPath(file.partition()),
          file.sortOrderId(), file.splitOffsets(), file.firstRowId());
      if (!stats) {
        return base;
      }
      return base + " " + sorted(file.valueCounts()) + sorted(file.nullValueCounts()) + sorted(file.nanValueCounts())
          + sorted(file.columnSizes()) + sorted(file.lowerBounds()) + sorted(file.upperBounds());
    }

    private static Map<Integer, String> sorted(Map<Integer, ?> values) {
      Map<Integer, String> text = new TreeMap<>();
      if (values != null) {
        values.forEach((id, value) ->
            text.put(id, value instanceof java.nio.ByteBuffer bytes ? hex(bytes.duplicate()) : String.valueOf(value)));
      }
      return text;
    }

    private static String hex(java.nio.ByteBuffer bytes) {
      byte[] copy = new byte[bytes.remaining()];
      bytes.get(copy);
      return java.util.HexFormat.of().formatHex(copy);
    }

    Set<String> keys() {
      return tasks.keySet();
    }

    /** Rows that match whatever they hold. */
    long sureRows() {
      return tasks.values().stream()
          .filter(task -> task.deletes.isEmpty() && task.residual.op() == Expression.Operation.TRUE)
          .mapToLong(Task::rows)
          .sum();
    }

    Outcome only(Set<String> keys) {
      Map<String, Task> kept = new TreeMap<>(tasks);
      kept.keySet().retainAll(keys);
      return new Outcome(kept, failure);
    }

    /**
     * Failed by accident, not by refusing the filter. One accident looks like a refusal: the client takes the literal of a transform
     * term for a value of the column when the column is an identity partition too.
     */
    boolean crashed(Outcome other) {
      if (failure == null) {
        return false;
      }
      boolean isMisread = String.valueOf(failure.getMessage()).startsWith("Invalid value for conversion to type");
      return !(failure instanceof ValidationException) || (isMisread && other.failure == null);
    }

    /** Null when both plans agree. A filter the client refuses must be refused as a bad request (400). */
    String differenceTo(Outcome other, Table table) {
      if (failure != null || other.failure != null) {
        if (failure != null && other.failure instanceof BadRequestException) {
          return null;
        }
        return "client " + said(this) + ", server " + said(other);
      }
      if (!tasks.keySet().equals(other.tasks.keySet())) {
        Set<String> missing = new TreeSet<>(tasks.keySet());
        missing.removeAll(other.tasks.keySet());
        Set<String> extra = new TreeSet<>(other.tasks.keySet());
        extra.removeAll(tasks.keySet());
        return tasks.size() + " tasks in the client, " + other.tasks.size() + " from the server; missing " + missing + " extra " + extra;
      }
      for (Map.Entry<String, Task> entry : tasks.entrySet()) {
        Task mine = entry.getValue();
        Task theirs = other.tasks.get(entry.getKey());
        if (!mine.deletes.equals(theirs.deletes)) {
          return "deletes of " + entry.getKey() + ": " + firstDifference(mine.deletes.toString(), theirs.deletes.toString());
        }
        if (!mine.facts.equals(theirs.facts)) {
          return "file: " + firstDifference(mine.facts, theirs.facts);
        }
        if (!sameResidual(mine.residual, theirs.residual, table) && !mine.provesTooMuch) {
          return "residual: client " + mine.residual + ", server " + theirs.residual;
        }
      }
      return null;
    }

    /** The texts from a little before the place where they part. */
    private static String firstDifference(String client, String server) {
      int at = 0;
      while (at < Math.min(client.length(), server.length()) && client.charAt(at) == server.charAt(at)) {
        at++;
      }
      int from = Math.max(0, at - 40);
      return "client …" + excerpt(client, from) + " | server …" + excerpt(server, from);
    }

    private static String excerpt(String text, int from) {
      return text.substring(Math.min(from, text.length()), Math.min(text.length(), from + 200));
    }

    private static boolean sameResidual(Expression a, Expression b, Table table) {
      if (a.toString().equals(b.toString())) {
        return true;
      }
      try {
        return ExpressionUtil.equivalent(a, b, table.schema().asStruct(), false);
      } catch (RuntimeException e) {
        return false;
      }
    }

    private static String said(Outcome outcome) {
      return outcome.failure == null
          ? "gave " + outcome.tasks.size() + " tasks"
          : "threw " + outcome.failure.getClass().getSimpleName() + ": " + outcome.failure.getMessage();
    }
  }
}

package conformance;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestDescriptor;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.PostDiscoveryFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Runs JUnit classes and prints one line per failure with the first lines of its message, the skipped names per class,
 * counts per class, and {@code N passed, N failed, N skipped}. A class that never starts (server unreachable) counts as one
 * failure, and so does a run in which no test ran.
 */
public final class RunKit implements TestExecutionListener {
  /** Methods that fail on every server for a reason in the client; shown, counted as skipped. */
  private static final Set<String> KNOWN = names("kit.known");

  /** If not empty, only methods of these names run; parameterised ones with all their invocations. */
  private static final Set<String> ONLY = names("kit.only");

  private final Map<String, int[]> counts = new TreeMap<>(); // class → passed, failed, skipped
  private final Map<String, StringBuilder> skipped = new TreeMap<>();

  public static void main(String[] classes) {
    LauncherDiscoveryRequestBuilder request = LauncherDiscoveryRequestBuilder.request();
    for (String name : classes) {
      request.selectors(selectClass(name));
    }
    if (!ONLY.isEmpty()) {
      request.filters((PostDiscoveryFilter) RunKit::wanted);
    }
    RunKit run = new RunKit();
    long start = System.nanoTime();
    LauncherFactory.create().execute(request.build(), run);
    System.exit(run.report((System.nanoTime() - start) / 1e9) ? 0 : 1);
  }

  private static FilterResult wanted(TestDescriptor test) {
    return test.getSource().map(s -> s instanceof MethodSource m && ONLY.contains(m.getMethodName())).orElse(false)
        ? FilterResult.included("named")
        : FilterResult.excluded("not named");
  }

  /** Names in a comma list; an empty list has no names, not one empty name (class failures have no method name). */
  private static Set<String> names(String property) {
    return Arrays.stream(System.getProperty(property, "").split(",")).filter(n -> !n.isEmpty()).collect(Collectors.toSet());
  }

  @Override
  public void executionSkipped(TestIdentifier id, String reason) {
    skip(id);
  }

  @Override
  public void executionFinished(TestIdentifier id, TestExecutionResult result) {
    switch (result.getStatus()) {
      case ABORTED -> skip(id);
      case FAILED -> {
        boolean known = KNOWN.contains(methodName(id));
        count(id)[known ? 2 : 1]++;
        System.out.println((known ? "KNOWN " : "FAIL ") + name(id) + ": " + firstLine(result.getThrowable()));
      }
      case SUCCESSFUL -> {
        if (id.isTest()) {
          count(id)[0]++;
        }
      }
    }
  }

  private void skip(TestIdentifier id) {
    count(id)[2]++;
    skipped.computeIfAbsent(className(id), key -> new StringBuilder()).append(' ').append(methodName(id));
  }

  private boolean report(double seconds) {
    int passed = 0;
    int failed = 0;
    int skippedTests = 0;
    for (Map.Entry<String, StringBuilder> entry : skipped.entrySet()) {
      System.out.println("SKIP " + entry.getKey() + ":" + entry.getValue());
    }
    for (Map.Entry<String, int[]> entry : counts.entrySet()) {
      int[] n = entry.getValue();
      System.out.printf("%s: %d passed, %d failed, %d skipped%n", entry.getKey(), n[0], n[1], n[2]);
      passed += n[0];
      failed += n[1];
      skippedTests += n[2];
    }
    if (passed + failed == 0) {
      System.out.println("FAIL no test ran");
      failed = 1;
    }
    System.out.printf("%.1f s%n%d passed, %d failed, %d skipped%n", seconds, passed, failed, skippedTests);
    return failed == 0;
  }

  private int[] count(TestIdentifier id) {
    return counts.computeIfAbsent(className(id), key -> new int[3]);
  }

  /** The simple name of the class that was selected: a subclass keeps its own name for inherited methods. */
  private static String className(TestIdentifier id) {
    return id.getUniqueIdObject().getSegments().stream()
        .filter(segment -> segment.getType().equals("class"))
        .map(segment -> segment.getValue().substring(segment.getValue().lastIndexOf('.') + 1))
        .findFirst()
        .orElse("engine");
  }

  private static String methodName(TestIdentifier id) {
    String method = id.getSource().map(s -> s instanceof MethodSource m ? m.getMethodName() : "").orElse("");
    boolean parameterised = id.getUniqueIdObject().getLastSegment().getType().contains("invocation");
    return parameterised ? method + id.getDisplayName() : method;
  }

  private static String name(TestIdentifier id) {
    return className(id) + "." + methodName(id);
  }

  private static String firstLine(Optional<Throwable> failure) {
    return failure
        .map(f -> f.getClass().getSimpleName() + ": " + f.getMessage())
        .map(text -> text.strip().lines().filter(line -> !line.isBlank()).limit(3).reduce((a, b) -> a + " | " + b.strip()).orElse(""))
        .orElse("no message");
  }
}

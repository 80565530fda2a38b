package conformance;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.HistoryEntry;
import org.apache.iceberg.ManifestFile;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.SnapshotParser;
import org.apache.iceberg.Table;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.rest.KitClient;
import org.apache.iceberg.rest.RESTCatalog;

/**
 * Reads a table with the Java client and says what is wrong with it: usage {@code TableAudit NAMESPACE TABLE}. Every manifest
 * list, every manifest of every snapshot and every live data file must exist; no live file is listed twice; sequence numbers
 * strictly increase and the times of the history never go back. Prints one line of JSON: counts, and {@code faults}, a list of
 * sentences.
 */
public final class TableAudit {
  private static final int FAULTS_MAX = 20;

  private final Table table;
  private final FileIO io;
  private final List<String> faults = new ArrayList<>();
  private final Set<String> manifests = new HashSet<>();
  private long files;
  private long rows;

  private TableAudit(Table table) {
    this.table = table;
    this.io = table.io();
  }

  public static void main(String[] args) throws Exception {
    try (RESTCatalog catalog = KitClient.connect(Map.of())) {
      System.out.println(new TableAudit(catalog.loadTable(TableIdentifier.of(args[0], args[1]))).report());
    }
  }

  private String report() throws Exception {
    int snapshots = snapshots();
    int history = history();
    liveFiles();
    int listed = table.currentSnapshot() == null ? 0 : table.currentSnapshot().allManifests(io).size();
    String quoted = faults.isEmpty() ? "" : "\"" + String.join("\",\"", faults.subList(0, Math.min(FAULTS_MAX, faults.size()))) + "\"";
    return String.format(
        "{\"snapshots\":%d,\"history\":%d,\"manifests\":%d,\"listed\":%d,\"files\":%d,\"rows\":%d,\"faults\":[%s]}",
        snapshots, history, manifests.size(), listed, files, rows, quoted);
  }

  private int snapshots() {
    int count = 0;
    long sequence = 0;
    for (Snapshot snapshot : table.snapshots()) {
      count++;
      if (snapshot.sequenceNumber() <= sequence) {
        faults.add("snapshot " + snapshot.snapshotId() + " has sequence number " + snapshot.sequenceNumber() + " after " + sequence);
      }
      sequence = snapshot.sequenceNumber();
      if (!io.newInputFile(snapshot.manifestListLocation()).exists()) {
        faults.add("missing manifest list " + snapshot.manifestListLocation());
        continue;
      }
      // A snapshot keeps the manifests that it has read; of thousands of snapshots that is more than fits, so a copy reads them.
      for (ManifestFile manifest : SnapshotParser.fromJson(SnapshotParser.toJson(snapshot)).allManifests(io)) {
        if (manifests.add(manifest.path()) && !io.newInputFile(manifest.path()).exists()) {
          faults.add("missing manifest " + manifest.path() + " of snapshot " + snapshot.snapshotId());
        }
      }
    }
    return count;
  }

  private int history() {
    int count = 0;
    long time = 0;
    for (HistoryEntry entry : table.history()) {
      count++;
      if (entry.timestampMillis() < time) {
        faults.add("the history goes back at snapshot " + entry.snapshotId());
      }
      time = entry.timestampMillis();
    }
    return count;
  }

  private void liveFiles() throws Exception {
    Set<String> seen = new HashSet<>();
    try (CloseableIterable<FileScanTask> tasks = table.newScan().planFiles()) {
      for (FileScanTask task : tasks) {
        files++;
        rows += task.file().recordCount();
        String path = task.file().location();
        if (!seen.add(path)) {
          faults.add("listed twice: " + path);
        } else if (!io.newInputFile(path).exists()) {
          faults.add("missing data file " + path);
        }
      }
    }
  }
}

package conformance;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DataFiles;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Table;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.apache.iceberg.rest.KitClient;
import org.apache.iceberg.rest.RESTCatalog;

/**
 * Java writers on one table, each with a catalog of its own, merging manifests as the client does by default: usage
 * {@code ContentionWriters NAMESPACE TABLE FILES}. Each line of FILES is {@code WRITER TURN PATH BYTES}: a data file that
 * exists and holds one row. Prints {@code ready}, waits for a line, and prints in the end one line of JSON, as
 * contention/writing.py says.
 */
public final class ContentionWriters {
  private record Turn(int writer, int number, String path, long bytes) {}

  public static void main(String[] args) throws Exception {
    TableIdentifier name = TableIdentifier.of(args[0], args[1]);
    Map<Integer, List<Turn>> turns = new TreeMap<>();
    for (String line : Files.readAllLines(Path.of(args[2]))) {
      String[] words = line.split(" ");
      Turn turn = new Turn(Integer.parseInt(words[0]), Integer.parseInt(words[1]), words[2], Long.parseLong(words[3]));
      turns.computeIfAbsent(turn.writer(), ignored -> new ArrayList<>()).add(turn);
    }
    List<String> told = new ArrayList<>();
    List<RESTCatalog> catalogs = new ArrayList<>();
    List<Thread> threads = new ArrayList<>();
    for (List<Turn> own : turns.values()) {
      RESTCatalog catalog = KitClient.connect(Map.of());
      catalogs.add(catalog);
      Table table = catalog.loadTable(name);
      threads.add(new Thread(() -> own.forEach(turn -> tell(told, append(table, turn)))));
    }
    System.out.println("ready");
    new BufferedReader(new InputStreamReader(System.in)).readLine();
    threads.forEach(Thread::start);
    for (Thread thread : threads) {
      thread.join();
    }
    for (RESTCatalog catalog : catalogs) {
      catalog.close();
    }
    System.out.println("[" + String.join(",", told) + "]");
  }

  private static void tell(List<String> told, String line) {
    synchronized (told) {
      told.add(line);
    }
  }

  private static String append(Table table, Turn turn) {
    long began = System.nanoTime();
    String outcome = "landed";
    String detail = "";
    try {
      DataFile file =
          DataFiles.builder(PartitionSpec.unpartitioned()).withPath(turn.path()).withFileSizeInBytes(turn.bytes()).withRecordCount(1).build();
      table.newAppend().appendFile(file).commit();
    } catch (CommitFailedException lost) {
      outcome = "lost";
      detail = text(lost);
    } catch (RuntimeException broken) {
      outcome = "broken";
      detail = text(broken);
    }
    long tookMs = (System.nanoTime() - began) / 1_000_000;
    return "[" + turn.writer() + "," + turn.number() + "," + tookMs + ",\"" + outcome + "\",\"" + detail + "\"]";
  }

  private static String text(Exception thrown) {
    String message = thrown.getClass().getSimpleName() + ": " + thrown.getMessage();
    return message.substring(0, Math.min(message.length(), 300)).replaceAll("[\\\\\"\\s]+", " ");
  }
}

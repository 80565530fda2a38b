package conformance;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DataFiles;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.iceberg.Transaction;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.rest.KitClient;
import org.apache.iceberg.rest.RESTCatalog;
import org.apache.iceberg.types.Types;

/**
 * What the Java client sends when it creates, appends, evolves and rewrites: usage {@code AppendSession NAMESPACE}, client
 * properties as system properties ({@code uri}, {@code warehouse}). Makes {@code NAMESPACE.staged} (staged create with
 * its first append in one commit, then two appends) and {@code NAMESPACE.plain} (create, append, delete, schema change,
 * append). The data files exist but hold no rows. Prints {@code TABLE SNAPSHOTS FILES} for each; any refused commit throws.
 */
public final class AppendSession {
  private static final Schema SCHEMA =
      new Schema(
          Types.NestedField.required(1, "id", Types.LongType.get()), Types.NestedField.optional(2, "s", Types.StringType.get()));

  public static void main(String[] args) throws IOException {
    Namespace namespace = Namespace.of(args[0]);
    try (RESTCatalog catalog = KitClient.connect(Map.of())) {
      catalog.createNamespace(namespace);
      staged(catalog, TableIdentifier.of(namespace, "staged"));
      plain(catalog, TableIdentifier.of(namespace, "plain"));
    }
  }

  private static void staged(RESTCatalog catalog, TableIdentifier name) throws IOException {
    Transaction create = catalog.buildTable(name, SCHEMA).createTransaction();
    create.newFastAppend().appendFile(write(create.table(), "first")).commit();
    create.commitTransaction();
    Table table = catalog.loadTable(name);
    table.newFastAppend().appendFile(write(table, "second")).commit();
    table.newAppend().appendFile(write(table, "third")).commit();
    report(catalog, name);
  }

  private static void plain(RESTCatalog catalog, TableIdentifier name) throws IOException {
    Table table = catalog.createTable(name, SCHEMA);
    DataFile first = write(table, "first");
    table.newAppend().appendFile(first).commit();
    table.newDelete().deleteFile(first).commit();
    table.updateSchema().addColumn("n", Types.IntegerType.get()).commit();
    table.updateProperties().set("k", "v").commit();
    table.newAppend().appendFile(write(table, "second")).commit();
    report(catalog, name);
  }

  private static DataFile write(Table table, String name) throws IOException {
    String path = table.locationProvider().newDataLocation(name + ".parquet");
    byte[] content = name.getBytes(StandardCharsets.UTF_8);
    try (OutputStream out = table.io().newOutputFile(path).create()) {
      out.write(content);
    }
    return DataFiles.builder(PartitionSpec.unpartitioned()).withPath(path).withFileSizeInBytes(content.length).withRecordCount(1).build();
  }

  private static void report(RESTCatalog catalog, TableIdentifier name) throws IOException {
    Table table = catalog.loadTable(name);
    int snapshots = 0;
    for (Object ignored : table.snapshots()) {
      snapshots++;
    }
    int files = 0;
    try (var tasks = table.newScan().planFiles()) {
      for (Object ignored : tasks) {
        files++;
      }
    }
    System.out.println(name.name() + " " + snapshots + " " + files);
  }
}

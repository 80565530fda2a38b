package org.apache.iceberg.rest;

import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.junit.jupiter.api.AfterEach;

/** The kit's catalog tests with everything turned on that a server outside a servlet container can do. */
public class WiderCatalogTests extends RESTCompatibilityKitCatalogTests {
  @Override
  protected boolean supportsNestedNamespaces() {
    return true;
  }

  @Override
  protected boolean supportsNamesWithSlashes() {
    return true;
  }

  @Override
  protected boolean supportsNamesWithDot() {
    return true;
  }

  /**
   * The locations that nine tests request. The kit's own are below file:/tmp; a server that keeps tables inside its
   * warehouse refuses them, so the tests ask for a place below the namespace's location where the server names one.
   * With {@code -Dkit.locations=own} the kit's choice stays.
   */
  @Override
  protected String baseTableLocation(TableIdentifier table) {
    if (System.getProperty("kit.locations", "namespace").equals("own") || !catalog().namespaceExists(table.namespace())) {
      return super.baseTableLocation(table);
    }
    String parent = catalog().loadNamespaceMetadata(table.namespace()).get("location");
    return parent == null ? super.baseTableLocation(table) : parent + "/" + table.name();
  }

  /** Two nested tests share this name and the kit does not clear it between them. */
  @AfterEach
  void dropParent() {
    CleanKit.drop(catalog(), Namespace.of("parent"));
  }
}

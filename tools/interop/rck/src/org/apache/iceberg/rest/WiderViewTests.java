package org.apache.iceberg.rest;

import java.util.UUID;

/** The kit's view tests with view locations inside the warehouse, where {@code -Dkit.base=LOCATION} names a place there. */
public class WiderViewTests extends RESTCompatibilityKitViewCatalogTests {
  private final String folder = UUID.randomUUID().toString();

  /** The locations that four tests request. The kit's own are in a temporary folder of this machine. */
  @Override
  protected String viewLocation(String... parts) {
    String base = System.getProperty("kit.base");
    return base == null ? super.viewLocation(parts) : base + "/" + folder + "/" + String.join("/", parts).replaceAll("/+$", "");
  }
}

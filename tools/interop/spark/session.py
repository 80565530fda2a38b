"""A Spark session whose catalog "lake" is an Iceberg REST catalog. All settings come from the environment (see run.sh)."""
import os
from pyspark.sql import SparkSession


def start(app="timelake-interop", **extra):
    env = os.environ
    conf = {
        "spark.jars": env["ICEBERG_JARS"],
        "spark.driver.memory": env.get("SPARK_MEMORY", "1500m"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.defaultCatalog": "lake",
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "rest",
        "spark.sql.catalog.lake.uri": env["CATALOG_URI"],
        "spark.sql.catalog.lake.cache-enabled": "false",
        # no hidden Derby metastore in the working folder
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.warehouse.dir": env.get("TMPDIR", "/tmp") + "/spark-warehouse",
    }
    lake = "spark.sql.catalog.lake."
    if env.get("CATALOG_WAREHOUSE"):
        conf[lake + "warehouse"] = env["CATALOG_WAREHOUSE"]
    if env.get("CATALOG_TOKEN"):
        conf[lake + "token"] = env["CATALOG_TOKEN"]
    if env.get("CATALOG_CREDENTIAL"):
        conf[lake + "credential"] = env["CATALOG_CREDENTIAL"]
        if env.get("CATALOG_OAUTH2_URI"):
            conf[lake + "oauth2-server-uri"] = env["CATALOG_OAUTH2_URI"]
        if env.get("CATALOG_SCOPE"):
            conf[lake + "scope"] = env["CATALOG_SCOPE"]
    if env.get("S3_ENDPOINT"):
        conf[lake + "io-impl"] = "org.apache.iceberg.aws.s3.S3FileIO"
        conf[lake + "s3.endpoint"] = env["S3_ENDPOINT"]
        conf[lake + "s3.path-style-access"] = "true"
        conf[lake + "client.region"] = env.get("S3_REGION", "us-east-1")
        if env.get("S3_ACCESS_KEY"):
            conf[lake + "s3.access-key-id"] = env["S3_ACCESS_KEY"]
            conf[lake + "s3.secret-access-key"] = env["S3_SECRET_KEY"]
    for item in filter(None, (i.strip() for i in env.get("CATALOG_EXTRA", "").split(","))):   # name=value,name=value
        name, value = item.split("=", 1)
        conf[lake + name] = value
    conf.update(extra)
    builder = SparkSession.builder.master("local[2]").appName(app)
    for name, value in conf.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel(env.get("SPARK_LOG", "FATAL"))
    return spark

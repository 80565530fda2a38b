/** What `timelake help` prints. */
export const HELP_TEXT = `timelake: an Iceberg REST catalog that keeps its tables in shape

  timelake serve                       catalog and worker in one process, until interrupted
  timelake info <namespace.table>      files, snapshots, jobs, the last decision and why, the next trigger
  timelake maintain <namespace.table>  merge small files now
      --dry-run                        print what would be done, change nothing
  timelake recover                     rebuild a lost or damaged database from the warehouse directory
      --dry-run                        print the plan, change nothing
      --unnamed-into <namespace>       also restore tables whose name is lost, under generated names
      --force                          set a healthy database aside and rebuild it too
  timelake version
  timelake help

info and maintain talk to a running server:
      --uri <uri>                      where it listens (default: TIMELAKE_URI, else http://127.0.0.1:8181)
      --warehouse <name>               warehouse (default: the server's)
      --json                           print the answer as JSON

Settings are environment variables that start with TIMELAKE_; README.md has the table.
Exit codes: 0 done, 1 failed, 2 wrong usage or setting, 3 refused because another process or a healthy database is there.
`

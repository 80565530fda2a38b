/** What `timelake help` prints. */
export const HELP_TEXT = `timelake: an Iceberg REST catalog that keeps its tables in shape

  timelake serve                       catalog and worker in one process, until interrupted
  timelake worker                      jobs alone, beside catalogs on the same PostgreSQL and Redis
  timelake info <namespace.table>      files, snapshots, jobs, the last decision and why, the next trigger
  timelake maintain <namespace.table>  merge small files now
      --dry-run                        print what would be done, change nothing
  timelake recover                     rebuild a lost or damaged database from the warehouse directory
      --dry-run                        print the plan, change nothing
      --unnamed-into <namespace>       also restore tables whose name is lost, under generated names
      --force                          set a healthy database aside and rebuild it too
      --warehouse <name>               a further warehouse, whose row is there again and empty
  timelake migrate --from <uri>        register the tables and views of another REST catalog here; only names are copied
      --from-warehouse <name>          its warehouse
      --to <uri>, --to-warehouse <name>  the catalog that gets them (default: TIMELAKE_URI)
      --namespace <a.b>                only this one and what is below it; may be repeated
      --report <file>                  a JSON line for every namespace, table and view
      --dry-run                        say what would be done, change nothing
      --overwrite                      move tables that are behind in the target
      --discard-target                 with --overwrite: also where the target has commits that the source lacks
      --freeze-check                   look at the source again at the end and report what moved on
      --concurrency <n>                tables at the same time (default: 8)
  timelake warehouse list              all warehouses
  timelake warehouse show <name>       one of them, without its secrets
  timelake warehouse create <name> <location>
                                       make one at s3://bucket/folder or file:///folder, and try its store
      --endpoint <uri>, --region <name>, --path-style <yes|no>
      --role-arn <arn>, --client-role-arn <arn>, --external-id <text>, --sts-endpoint <uri>
      --credentials <env|stdin|none>   from TIMELAKE_S3_ACCESS_KEY_ID and TIMELAKE_S3_SECRET_ACCESS_KEY, or as JSON
      --allow <location>               a further place where its tables may lie; may be repeated
      --default <key=value>            property for its clients; may be repeated
      --override <key=value>           property that its clients cannot change; may be repeated
  timelake warehouse update <name>     the same options; what is not given stays
      --location <location>            another place, while nothing is in it
  timelake warehouse test <name>       try what the catalog needs of its store
  timelake warehouse delete <name>     forget an empty one; no file is touched
      --force                          give up dropped tables that could come back or wait for their purge
  timelake dropped list                dropped tables, and what becomes of their files
  timelake dropped undrop <id>         bring one back
      --namespace <a.b>, --name <name> under another name
  timelake dropped purge <id>          delete its files when the grace is over
  timelake dropped keep <id>           no purge after all
  timelake events                      what happened to tables, views and namespaces, and how jobs ended
      --follow                         go on with what comes, until interrupted
      --table <a.b.t>, --namespace <a.b>, --kind <kind>
                                       only these; each may be repeated
      --after <cursor|start|now>       from there on (default: start; with --follow: now)
  timelake webhooks list               receivers of events, and how far each one is
  timelake webhooks create <name> <url>
                                       send events there, signed with a secret that is shown this once
      --warehouse <name>, --namespace <a.b>, --table <a.b.t>, --kind <kind>
                                       only these; each may be repeated
      --after <cursor|start>           from there on (default: from now on)
  timelake webhooks show <name>        one of them: delivered, waiting, the last failure
  timelake webhooks test <name>        send an event of its own and wait for the answer
  timelake webhooks pause <name>       send nothing until it is resumed
  timelake webhooks resume <name>      go on where it stopped
  timelake webhooks rotate <name>      another secret; the old one signs too for a day
  timelake webhooks replay <name>      send again
      --after <cursor|start>, --event <id>, --dead-letters
  timelake webhooks dead-letters <name>
                                       events that were given up
  timelake webhooks delete <name>      forget one, and what waits for it
  timelake accounts list               who may ask, beside the operator
  timelake accounts create <name>      a service account; its secret is shown this once
      --subject <text>, --group <text> instead: somebody, or a group, of an identity provider
      --issuer <uri>                   which one (default: the only one)
      --description <text>
  timelake accounts show <name>        one of them, with what it may do
  timelake accounts rotate <name>      another secret
      --keep-old <duration>            how long the one before is valid too (default: 1d)
  timelake accounts disable <name>, enable <name>, delete <name>
  timelake grants list                 who may do what
      --account <name>, --warehouse <name>
  timelake grants add <account> <reader|writer|admin>
                                       a role everywhere, or only in:
      --warehouse <name>, --namespace <a.b>
  timelake grants remove <id>          take it back
  timelake audit                       what was changed, given and refused, newest first
      --caller <name>, --warehouse <name>, --action <operation>, --outcome <done|denied|failed>
      --limit <n>                      at most (default: 50)
  timelake version
  timelake help

info, maintain, warehouse, dropped, events, webhooks, accounts, grants and audit talk to a running server:
      --uri <uri>                      where it listens (default: TIMELAKE_URI, else http://127.0.0.1:8181)
      --warehouse <name>               warehouse (default: the server's)
      --json                           print the answer as JSON

Settings are environment variables that start with TIMELAKE_; README.md has the table.
Exit codes: 0 done, 1 failed, 2 wrong usage or setting, 3 refused because another process or a healthy database is there,
4 done but for what the printed lines name (migrate).
`

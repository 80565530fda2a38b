// Made by `npm run generate` from timelake-catalog.yaml. Do not edit.

export interface paths {
    "/admin/v1/tables": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * All tables of a warehouse with their ids
         * @description In order of id, in pages.
         */
        get: operations["listAllTables"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/tables/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a table's row; it stays when the table is renamed. */
                id: components["parameters"]["table-id"];
            };
            cookie?: never;
        };
        /** A table by its id */
        get: operations["getTable"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/tables/{id}/maintenance": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a table's row; it stays when the table is renamed. */
                id: components["parameters"]["table-id"];
            };
            cookie?: never;
        };
        /**
         * What maintenance did to a table, decided and will do
         * @description Also for a table that was dropped, whose purge is a job.
         */
        get: operations["getMaintenance"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/tables/{id}/queue": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a table's row; it stays when the table is renamed. */
                id: components["parameters"]["table-id"];
            };
            cookie?: never;
        };
        /**
         * Who commits to a table at this moment
         * @description What the answering process knows: the depth of the queue of commits and, while writers of the table take turns, whose turn it is and whose loads wait.
         */
        get: operations["getTableQueue"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/tables/{id}/compact": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a table's row; it stays when the table is renamed. */
                id: components["parameters"]["table-id"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Merge the small files of a table now
         * @description Asks for a run and does not wait for it. With `dry-run=true` nothing is asked for: the answer is what a run would do at this moment, and why.
         */
        post: operations["compactTable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/warehouses": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * All warehouses
         * @description In order of name, in pages.
         */
        get: operations["listWarehouses"];
        put?: never;
        /**
         * Make a warehouse
         * @description No object is touched. Two warehouses of one store never equal or nest, their allowed locations included; stores are told apart by the host and port of their endpoint.
         */
        post: operations["createWarehouse"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/warehouses/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Try the store of a warehouse that is only described
         * @description Nothing of it is kept; the small objects that are written are removed again.
         */
        post: operations["probeNewWarehouse"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/warehouses/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of a warehouse, percent-encoded. */
                name: components["parameters"]["warehouse-name"];
            };
            cookie?: never;
        };
        /** A warehouse by its name */
        get: operations["getWarehouse"];
        put?: never;
        post?: never;
        /**
         * Forget a warehouse
         * @description No object is touched.
         */
        delete: operations["deleteWarehouse"];
        options?: never;
        head?: never;
        /**
         * Change a warehouse
         * @description Changes the members that are given, each as a whole; the others stay. New credentials are in use at once in the process that answers and within a second in others. The location stays as long as anything is in the warehouse.
         */
        patch: operations["updateWarehouse"];
        trace?: never;
    };
    "/admin/v1/warehouses/{name}/test": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of a warehouse, percent-encoded. */
                name: components["parameters"]["warehouse-name"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Try the store of a warehouse */
        post: operations["probeWarehouse"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/dropped-tables": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The dropped tables of a warehouse
         * @description Last dropped first, in pages.
         */
        get: operations["listDroppedTables"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/dropped-tables/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a table's row; it stays when the table is renamed. */
                id: components["parameters"]["table-id"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete the files of a dropped table
         * @description As if it had been dropped with `purgeRequested=true` now: the grace counts from now, and tables with `gc.enabled=false` are left alone. Asking twice changes nothing.
         */
        delete: operations["purgeDroppedTable"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/dropped-tables/{id}/undrop": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a table's row; it stays when the table is renamed. */
                id: components["parameters"]["table-id"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Bring a dropped table back
         * @description Under its id, with its last state; a wish for its purge is forgotten. A table that is live again answers the same.
         */
        post: operations["undropTable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/dropped-tables/{id}/keep": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a table's row; it stays when the table is renamed. */
                id: components["parameters"]["table-id"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Take the wish for a purge back */
        post: operations["keepDroppedTable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * All webhooks
         * @description In order of name; there are at most a hundred.
         */
        get: operations["listWebhooks"];
        put?: never;
        /**
         * Have events sent to a receiver
         * @description Signed, in the order of the feed within each table. See docs/webhooks.md.
         */
        post: operations["createWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/webhooks/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of a webhook, percent-encoded. */
                name: components["parameters"]["webhook-name"];
            };
            cookie?: never;
        };
        /** A webhook by its name */
        get: operations["getWebhook"];
        put?: never;
        post?: never;
        /**
         * Forget a webhook
         * @description With everything that waits for it.
         */
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        /**
         * Change a webhook
         * @description Changes the members that are given, each as a whole; the others stay. A pause after failures is over.
         */
        patch: operations["updateWebhook"];
        trace?: never;
    };
    "/admin/v1/webhooks/{name}/test": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of a webhook, percent-encoded. */
                name: components["parameters"]["webhook-name"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Try a webhook
         * @description Sends an event of type `timelake.test` from where events are sent, and waits for what comes of it.
         */
        post: operations["probeWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/webhooks/{name}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of a webhook, percent-encoded. */
                name: components["parameters"]["webhook-name"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send nothing until it is resumed
         * @description A batch that has begun goes on. Events wait in the feed, for as long as that keeps them.
         */
        post: operations["pauseWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/webhooks/{name}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of a webhook, percent-encoded. */
                name: components["parameters"]["webhook-name"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Go on sending
         * @description Where it stopped, and at once.
         */
        post: operations["resumeWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/webhooks/{name}/secret": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of a webhook, percent-encoded. */
                name: components["parameters"]["webhook-name"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Give a webhook another secret
         * @description The one before signs too for as long as is asked for.
         */
        post: operations["rotateWebhookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/webhooks/{name}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of a webhook, percent-encoded. */
                name: components["parameters"]["webhook-name"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send events again
         * @description Under the same ids. From a place in the feed, everything behind it is sent in order; dead letters are sent beside it.
         */
        post: operations["replayWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/webhooks/{name}/dead-letters": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of a webhook, percent-encoded. */
                name: components["parameters"]["webhook-name"];
            };
            cookie?: never;
        };
        /**
         * Events that were given up
         * @description Oldest first, in pages.
         */
        get: operations["listDeadLetters"];
        put?: never;
        post?: never;
        /** Forget events that were given up */
        delete: operations["discardDeadLetters"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/accounts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * All accounts
         * @description In order of name, in pages.
         */
        get: operations["listAccounts"];
        put?: never;
        /**
         * Make an account
         * @description Without any role. The secret of a service account is told this once.
         */
        post: operations["createAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/accounts/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of an account, percent-encoded. */
                name: components["parameters"]["account-name"];
            };
            cookie?: never;
        };
        /** An account by its name */
        get: operations["getAccount"];
        put?: never;
        post?: never;
        /**
         * Forget an account
         * @description With its secrets and grants: its tokens end.
         */
        delete: operations["deleteAccount"];
        options?: never;
        head?: never;
        /**
         * Change an account
         * @description Disabled, it is refused from the next request on.
         */
        patch: operations["updateAccount"];
        trace?: never;
    };
    "/admin/v1/accounts/{name}/secret": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of an account, percent-encoded. */
                name: components["parameters"]["account-name"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Give a service account another secret
         * @description The one before is valid too for as long as is asked for.
         */
        post: operations["rotateAccountSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/grants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Who may do what
         * @description In the order of ids, in pages.
         */
        get: operations["listGrants"];
        put?: never;
        /**
         * Give an account a role
         * @description Instead of the one that it had at this place.
         */
        post: operations["createGrant"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/grants/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a grant. */
                id: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Take a role back */
        delete: operations["deleteGrant"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What was changed, given and refused
         * @description Newest first, in pages.
         */
        get: operations["listAuditEntries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description What went wrong. */
        ErrorModel: {
            /** @description A sentence for people. Some clients compare parts of it, so those parts are fixed. */
            message: string;
            /** @description Which kind of failure it is; clients decide by it. */
            type: string;
            /** @description The HTTP status again. */
            code: bigint;
            /** @description Never sent by this server. */
            stack?: string[];
        };
        /** @description The levels of a namespace, outermost first. */
        Namespace: string[];
        /** @description Where the next page begins; null or absent on the last one. It has no meaning to a client. */
        PageToken: string | null;
        /** @description The envelope of every answer with a status from 400 on, whoever noticed the failure. */
        IcebergErrorResponse: {
            error: components["schemas"]["ErrorModel"];
        };
        /** @description The row of a table. */
        AdminTableRow: {
            /** @description Stays the same for the life of the table. */
            id: string;
            namespace: components["schemas"]["Namespace"];
            name: string;
            "table-uuid": string;
            location: string;
            /** @description The current metadata file. */
            "metadata-location": string;
            /**
             * Format: int64
             * @description How many metadata files it has had.
             */
            version: bigint;
        };
        /** @description A page of tables. */
        AdminTableList: {
            tables: components["schemas"]["AdminTableRow"][];
            /** @description Null on the last page. */
            "next-page-token": string | null;
        };
        /** @description The row of a table and what its metadata says in short. */
        AdminTable: components["schemas"]["AdminTableRow"] & {
            "format-version": bigint;
            /** Format: int64 */
            "last-updated-ms": bigint;
            /** Format: int64 */
            "current-snapshot-id": bigint | null;
            /** Format: int64 */
            "snapshot-count": bigint;
            properties: {
                [key: string]: string;
            };
        };
        /** @description Where the objects of a warehouse are and how they are reached. */
        Storage: {
            /** @enum {string} */
            type: "file" | "s3";
            /** @description `http(s)://host:port` of an S3-compatible store. Absent for AWS. */
            endpoint?: string;
            /** @description Needed for s3. */
            region?: string;
            /** @description Whether the bucket stands in the path. Default with an endpoint; without one it is in the host name. */
            "path-style"?: boolean;
            /** @description A role to assume. */
            "role-arn"?: string;
            /** @description The role that sessions for clients are cut from. Default is role-arn. */
            "client-role-arn"?: string;
            /** @description Sent when a role is assumed. */
            "external-id"?: string;
            /** @description Where roles are assumed. */
            "sts-endpoint"?: string;
        };
        /** @description Keys for the store. Kept sealed and never sent back. */
        WarehouseKeys: {
            "access-key-id": string;
            "secret-access-key": string;
            "session-token"?: string;
        };
        /** @description What may be changed of a warehouse. */
        WarehouseMembers: {
            /** @description Below it everything of the warehouse lies: `s3://bucket/folder` or `file:///folder`. */
            location?: string;
            storage?: components["schemas"]["Storage"];
            /** @description Null for none, then the identity of the process is used. */
            credentials?: null | components["schemas"]["WarehouseKeys"];
            /** @description Places outside the location where tables of the warehouse may lie. */
            "allowed-locations"?: string[];
            /** @description Client properties that a client's own setting replaces. No secrets. */
            defaults?: {
                [key: string]: string;
            };
            /** @description Client properties that replace a client's own setting. No secrets. */
            overrides?: {
                [key: string]: string;
            };
            /** @description How clients are given access to objects, the first way that they ask for and that can be given. */
            delegation?: ("vended-credentials" | "static-keys" | "remote-signing")[];
        };
        /** @description A warehouse that is to be. */
        NewWarehouse: components["schemas"]["WarehouseMembers"] & {
            name: string;
        };
        /** @description What is to be different. With a `version`, only if it is still that one. */
        WarehouseChange: components["schemas"]["WarehouseMembers"] & {
            /** Format: int64 */
            version?: bigint;
        };
        /** @description A warehouse without its secrets. */
        AdminWarehouse: {
            id: string;
            name: string;
            location: string;
            storage: components["schemas"]["Storage"];
            /** @description Null when it has none. */
            credentials: null | components["schemas"]["KeptKeys"];
            "allowed-locations": string[];
            defaults: {
                [key: string]: string;
            };
            overrides: {
                [key: string]: string;
            };
            delegation: ("vended-credentials" | "static-keys" | "remote-signing")[];
            /**
             * Format: int64
             * @description Counts its changes.
             */
            version: bigint;
        };
        /** @description What is shown of credentials. */
        KeptKeys: {
            /** @description Whether this process has the key that they are sealed with. */
            "opens-here": boolean;
            /** @description The last four characters of the access key id; null when that would tell too much. */
            "access-key-id-end": string | null;
        };
        /** @description A page of warehouses. */
        WarehouseList: {
            warehouses: components["schemas"]["AdminWarehouse"][];
            /** @description Null on the last page. */
            "next-page-token": string | null;
        };
        /** @description What was tried on a store. */
        WarehouseFindings: {
            /** @description Whether nothing failed. */
            ok: boolean;
            findings: components["schemas"]["WarehouseFinding"][];
        };
        /** @description One thing that was tried. */
        WarehouseFinding: {
            check: string;
            ok: boolean;
            /** @description What is wrong. */
            detail: string | null;
        };
        /** @description Which events are sent; without a list, all. All lists that are there must agree. */
        WebhookFilter: {
            warehouses?: string[];
            /** @description With everything below them. */
            namespaces?: string[][];
            /** @description Tables and views. */
            tables?: components["schemas"]["FilteredTable"][];
            /** @description Kinds of event, such as `table-committed`. */
            kinds?: string[];
        };
        /** @description A table by its id or UUID, whatever its name, or by the name that it has in the event. */
        FilteredTable: {
            id?: string;
            namespace?: string[];
            name?: string;
        };
        /** @description What may be changed of a webhook. */
        WebhookMembers: {
            /** @description Where events are sent to. Over https, at a public address; other addresses, and http, only where TIMELAKE_WEBHOOK_ALLOWED_ADDRESSES names the address. */
            url?: string;
            filter?: components["schemas"]["WebhookFilter"];
            /**
             * Format: int32
             * @description An event that the receiver refuses (3xx and 4xx) this often is given up.
             * @default 20
             */
            "attempts-max": bigint;
            /**
             * Format: int64
             * @description An event that was not taken this long after its first attempt is given up, whatever the reason.
             * @default 86400000
             */
            "retry-for-ms": bigint;
        };
        /** @description A webhook that is to be. */
        NewWebhook: components["schemas"]["WebhookMembers"] & {
            name: string;
            /** @description `whsec_` and 24 to 64 bytes in base64. Without it, the server makes one. */
            secret?: string;
            /** @description A cursor of the feed, or `start` for all events that are kept. Without it, events from now on. */
            after?: string;
        };
        /** @description What is to be different. With a `version`, only if it is still that one. */
        WebhookChange: components["schemas"]["WebhookMembers"] & {
            /** Format: int64 */
            version?: bigint;
        };
        /** @description A webhook without its secret. */
        AdminWebhook: {
            id: string;
            name: string;
            url: string;
            filter: components["schemas"]["WebhookFilter"];
            /** Format: int32 */
            "attempts-max": bigint;
            /** Format: int64 */
            "retry-for-ms": bigint;
            /**
             * Format: int64
             * @description Counts its changes.
             */
            version: bigint;
            /** Format: int64 */
            "created-ms": bigint;
            /** Format: int64 */
            "updated-ms": bigint;
            /**
             * Format: int64
             * @description Until then the secret before signs too.
             */
            "old-secret-until-ms": bigint | null;
            /** @enum {string} */
            state: "active" | "failing" | "paused";
            "paused-reason": string | null;
            /** @description Up to where the feed was read. */
            cursor: string;
            /**
             * Format: int64
             * @description Events before that place that were not taken yet.
             */
            "waiting-events": bigint;
            /**
             * Format: int64
             * @description Events that were given up.
             */
            "dead-letters": bigint;
            /** Format: int64 */
            "delivered-events": bigint;
            /** Format: int64 */
            "last-delivered-ms": bigint | null;
            /** Format: int64 */
            "failing-since-ms": bigint | null;
            /** Format: int64 */
            "next-attempt-ms": bigint | null;
            "last-failure": string | null;
            /** Format: int64 */
            "last-failed-ms": bigint | null;
            /**
             * Format: int64
             * @description When events were found to be gone from the feed before they were sent.
             */
            "events-lost-ms": bigint | null;
            /**
             * Format: int64
             * @description How many events that pass the filter went from the feed before they were sent, since the webhook was made.
             */
            "events-lost": bigint;
        };
        /** @description A webhook that was just made. */
        CreatedWebhook: components["schemas"]["AdminWebhook"] & {
            secret: string;
        };
        /** @description All webhooks. */
        WebhookList: {
            webhooks: components["schemas"]["AdminWebhook"][];
        };
        /** @description What came of trying a webhook. */
        WebhookTrial: {
            "event-id": string;
            /** @description Null when no sender has tried it in time. */
            delivered: boolean | null;
            /** @description Why it was not taken. */
            reason: string | null;
            /** Format: int64 */
            "took-ms": bigint | null;
        };
        /** @description Why nothing is sent. */
        WebhookPause: {
            reason?: string;
        };
        /** @description Which secret comes, and how the one before goes. */
        SecretRotation: {
            /** @description Without it */
            secret?: string;
            /**
             * Format: int64
             * @description How long the one before signs too.
             * @default 86400000
             */
            "old-secret-for-ms": bigint;
        };
        /** @description A secret that was just made. */
        RotatedSecret: {
            secret: string;
            /** Format: int64 */
            "old-secret-until-ms": bigint;
        };
        /** @description What is sent again; one of the members. */
        WebhookReplay: {
            /** @description Everything behind this cursor, or `start`. */
            after?: string;
            /** @description This event and everything behind it. */
            "event-id"?: string;
            /** @description The event of this id, which was given up. */
            "dead-letter"?: string;
            /** @description Every event that was given up. */
            "dead-letters"?: boolean;
        };
        /** @description How many dead letters. */
        DeadLetterCount: {
            /** Format: int64 */
            "dead-letters": bigint;
        };
        /** @description An event that was given up. */
        DeadLetter: {
            "event-id": string;
            kind: string;
            /** Format: int32 */
            attempts: bigint;
            /** Format: int64 */
            "first-attempt-ms": bigint | null;
            /** Format: int64 */
            "given-up-ms": bigint | null;
            "last-failure": string | null;
            /** @description What was sent. */
            event: Record<string, never>;
        };
        /** @description A page of dead letters. */
        DeadLetterList: {
            "dead-letters": components["schemas"]["DeadLetter"][];
            /** @description Null on the last page. */
            "next-page-token": string | null;
        };
        /** @description An account, without its secrets. */
        AccountSummary: {
            id: string;
            /** @description The client id of a service account. */
            name: string;
            /** @enum {string} */
            kind: "service" | "federated" | "group";
            /** @description The identity provider. */
            issuer: string | null;
            /** @description Its name there. */
            subject: string | null;
            description: string;
            disabled: boolean;
            /** Format: int64 */
            "disabled-ms": bigint | null;
            /**
             * Format: int64
             * @description Counts its changes.
             */
            version: bigint;
            /** Format: int64 */
            "created-ms": bigint;
            /** Format: int64 */
            "updated-ms": bigint;
        };
        /** @description An account with its grants. */
        AdminAccount: components["schemas"]["AccountSummary"] & {
            secrets: {
                id: string;
                /** Format: int64 */
                "created-ms": bigint;
                /** Format: int64 */
                "valid-until-ms": bigint | null;
                /** Format: int64 */
                "last-used-ms": bigint | null;
            }[];
            grants: components["schemas"]["AdminGrant"][];
        };
        /** @description A page of accounts. */
        AccountList: {
            accounts: components["schemas"]["AccountSummary"][];
            /** @description Null on the last page. */
            "next-page-token": string | null;
        };
        /** @description An account to make. */
        NewAccount: {
            name: string;
            /**
             * @default service
             * @enum {string}
             */
            kind: "service" | "federated" | "group";
            /** @description Of a federated account or a group: one of TIMELAKE_OIDC_ISSUERS. */
            issuer?: string;
            /** @description Of a federated account or a group: its name there. */
            subject?: string;
            description?: string;
        };
        /** @description An account that was just made; a service account with its credentials. */
        CreatedAccount: components["schemas"]["AccountSummary"] & {
            "client-id"?: string;
            secret?: string;
        };
        /** @description What is changed of an account; absent members stay. */
        AccountChange: {
            description?: string;
            disabled?: boolean;
            /**
             * Format: int64
             * @description The version that the change is made from.
             */
            version?: bigint;
        };
        /** @description How the secret before goes. */
        AccountSecretRotation: {
            /**
             * Format: int64
             * @description How long the one before is valid too.
             * @default 86400000
             */
            "old-secret-for-ms": bigint;
        };
        /** @description Credentials that were just made. */
        AccountCredentials: {
            "client-id": string;
            secret: string;
            /** Format: int64 */
            "old-secret-until-ms": bigint;
        };
        /** @description A role to give. */
        NewGrant: {
            account: string;
            /** @enum {string} */
            role: "reader" | "writer" | "admin";
            /** @description Without it */
            warehouse?: string;
            /** @description Without it, in the whole warehouse. */
            namespace?: string[];
        };
        /** @description A role that an account has at a place. */
        AdminGrant: {
            id: string;
            account: string;
            /** @description Null: everywhere. */
            warehouse: string | null;
            /** @description Empty: the whole warehouse. */
            namespace: string[];
            /** @enum {string} */
            role: "reader" | "writer" | "admin";
            /** Format: int64 */
            "created-ms": bigint;
        };
        /** @description A page of grants. */
        GrantList: {
            grants: components["schemas"]["AdminGrant"][];
            /** @description Null on the last page. */
            "next-page-token": string | null;
        };
        /** @description What somebody did, was given or was refused. */
        AuditEntry: {
            /**
             * Format: int64
             * @description Grows, with gaps.
             */
            seq: bigint;
            /** Format: int64 */
            "at-ms": bigint;
            "caller-id": string;
            "caller-name": string;
            /** @enum {string} */
            "caller-kind": "trusted" | "operator" | "account" | "federated" | "unknown";
            action: string;
            /** @enum {string} */
            outcome: "done" | "denied" | "failed";
            /** Format: int32 */
            status: bigint;
            warehouse: string | null;
            namespace: string[] | null;
            object: string | null;
            detail: string | null;
            "remote-address": string | null;
        };
        /** @description A page of the audit log. */
        AuditList: {
            entries: components["schemas"]["AuditEntry"][];
            /** @description Null on the last page. */
            "next-page-token": string | null;
        };
        /** @description The last state of a dropped table, and what becomes of its files. */
        DroppedTable: components["schemas"]["AdminTableRow"] & {
            /** Format: int64 */
            "dropped-ms": bigint;
            /** @description Whether no purge has begun. */
            "can-come-back": boolean;
            "purge-requested": boolean;
            /** Format: int64 */
            "purge-requested-ms": bigint | null;
            /**
             * Format: int64
             * @description When a job looks at it; null while none is scheduled. In lists only.
             */
            "purge-due-ms"?: bigint | null;
            /** Format: int64 */
            "purge-started-ms": bigint | null;
            /** Format: int64 */
            "purged-ms": bigint | null;
        };
        /** @description A page of dropped tables. */
        DroppedTableList: {
            "dropped-tables": components["schemas"]["DroppedTable"][];
            /** @description Null on the last page. */
            "next-page-token": string | null;
        };
        /** @description Where a table comes back; what is absent is as it was. */
        UndropTarget: {
            namespace?: string[];
            name?: string;
        };
        TableQueue: {
            "table-id": string;
            /**
             * Format: int64
             * @description Commits that run or wait.
             */
            "queue-depth": bigint;
            /**
             * Format: int64
             * @description How long a commit that joins now may wait.
             */
            "expected-wait-ms": bigint;
            /** @description Whether writers take turns. */
            contended: boolean;
            /** @description Whose commit the others wait for. */
            turn: {
                "user-agent": string;
                address: string;
                /** Format: int64 */
                "since-ms": bigint;
                /** Format: int64 */
                "left-ms": bigint;
            } | null;
            /** Format: int64 */
            "waiting-count": bigint;
            /** @description The first 100, in order. */
            waiting: {
                "user-agent": string;
                address: string;
                /** Format: int64 */
                "waiting-ms": bigint;
                /** @description Whether its caller lost a race before. */
                "lost-before": boolean;
            }[];
        };
        /** @description What maintenance did to a table, decided and will do. */
        MaintenanceReport: {
            "table-id": string;
            jobs: components["schemas"]["JobSchedule"][];
            runs: components["schemas"]["JobRun"][];
        };
        /** @description One kind of job of one table. */
        JobSchedule: {
            "job-kind": string;
            /**
             * Format: int64
             * @description When it is looked at next if nothing happens before; null when nothing is asked for.
             */
            "next-trigger-ms": bigint | null;
            /** @description Why then. */
            reason: string | null;
            /**
             * Format: int64
             * @description Commits since it was last looked at.
             */
            "pending-commits": bigint;
            /** Format: int64 */
            "first-pending-ms": bigint | null;
            /** Format: int64 */
            "last-commit-ms": bigint | null;
            /** @description What was decided last, with the numbers that it rests on; null before the first time. */
            "last-decision": null | components["schemas"]["Decision"];
            /** Format: int64 */
            "decided-ms": bigint | null;
        };
        /** @description An outcome and the reason for it. Further members depend on the kind of job. */
        Decision: {
            outcome: string;
            reason: string;
            numbers?: components["schemas"]["CompactionNumbers"];
        } & {
            [key: string]: unknown;
        };
        /** @description One run of a job. */
        JobRun: {
            id: string;
            "job-kind": string;
            /** @enum {string} */
            state: "running" | "succeeded" | "nothing-to-do" | "skipped" | "failed" | "abandoned";
            reason: string | null;
            /** @description What the run did, as the kind of job tells it; null before its end. */
            outcome: unknown;
            /** Format: int64 */
            "started-ms": bigint;
            /** Format: int64 */
            "finished-ms": bigint | null;
            /** Format: int64 */
            "deadline-ms": bigint;
            "worker-id": string;
        };
        /** @description What is asked for now. */
        CompactionAccepted: {
            "table-id": string;
            jobs: components["schemas"]["JobSchedule"][];
        };
        /** @description What a run would do at this moment. */
        CompactionDryRun: {
            "table-id": string;
            /** @enum {string} */
            outcome: "compact" | "nothing-to-do" | "skipped";
            reason: string;
            numbers?: components["schemas"]["CompactionNumbers"];
            /** Format: int64 */
            "snapshot-id"?: bigint;
            /** @description The order of the merged files; 0 means as they come. */
            "sort-order-id"?: bigint;
            /** @description Why the table's sort order is not kept. */
            "unsorted-reason"?: string;
            "group-count"?: bigint;
            /** @description At most 100 of them; the numbers count all. */
            groups?: components["schemas"]["CompactionGroup"][];
            /** @description Groups that are left to the next run by the bound on one. */
            "remaining-group-count"?: bigint;
            /**
             * Format: int64
             * @description When a partition becomes cold enough, if no commit comes before.
             */
            "next-trigger-ms"?: bigint | null;
        };
        /** @description The numbers that a decision rests on. */
        CompactionNumbers: {
            "live-file-count": bigint;
            "small-file-count": bigint;
            "partition-count": bigint;
            /** @description Small files in the partition that has most of them. */
            "largest-small-file-count": bigint;
            /** Format: int64 */
            "target-file-size-bytes"?: bigint;
            /** Format: int64 */
            "small-file-size-bytes"?: bigint;
            "min-input-files"?: bigint;
            /** Format: int64 */
            "cold-after-ms"?: bigint;
        };
        /** @description Files of one partition that become one file. */
        CompactionGroup: {
            "spec-id": bigint;
            /** @description The values of the partition key; bytes as hexadecimal text. */
            partition: unknown[];
            "input-file-count": bigint;
            /** Format: int64 */
            "input-size-bytes": bigint;
            /** Format: int64 */
            "input-row-count": bigint;
            "output-file-count": bigint;
            reason: string;
        };
    };
    responses: {
        /** @description The request breaks a rule that no state of the catalog could make right. Nothing was changed. */
        "bad-request": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["IcebergErrorResponse"];
            };
        };
        /** @description A token is required and was missing or wrong. */
        "not-authorized": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["IcebergErrorResponse"];
            };
        };
        /** @description The Host or Origin header is not one that this server answers. */
        forbidden: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["IcebergErrorResponse"];
            };
        };
        /** @description The body is larger than TIMELAKE_BODY_BYTES_MAX. */
        "too-large": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["IcebergErrorResponse"];
            };
        };
        /** @description Certainly not applied; Retry-After says when to try again. */
        busy: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["IcebergErrorResponse"];
            };
        };
        /** @description The server failed. On a commit, whether it was applied is not known. */
        failure: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["IcebergErrorResponse"];
            };
        };
        /** @description There is no such account. */
        "no-account": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["IcebergErrorResponse"];
            };
        };
        /** @description Somebody else changed it since. */
        "changed-account": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["IcebergErrorResponse"];
            };
        };
        /** @description There is no such webhook. */
        "no-webhook": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["IcebergErrorResponse"];
            };
        };
        /** @description Somebody else changed it since. */
        "changed-webhook": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["IcebergErrorResponse"];
            };
        };
        /** @description There is no such warehouse. */
        "no-warehouse": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["IcebergErrorResponse"];
            };
        };
        /** @description There is no table with this id. */
        "no-table-id": {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["IcebergErrorResponse"];
            };
        };
    };
    parameters: {
        /** @description Attaches an append that lost a race to the present head of its branch instead of answering 409, as the table property `commit.rebase-appends` does. Beyond the Iceberg protocol. */
        "rebase-appends": "true";
        /** @description The `prefix` that the config answer names; here the name of the warehouse. */
        prefix: string;
        /** @description The levels, each percent-encoded, joined by the encoded unit separator `%1F`. The path is split before it is decoded, so a level may hold any character but that one. */
        namespace: string;
        /** @description The name of a table, percent-encoded. */
        table: string;
        /** @description The name of a view, percent-encoded. */
        view: string;
        "plan-id": string;
        /** @description The id of a table's row; it stays when the table is renamed. */
        "table-id": string;
        /** @description The name of an account, percent-encoded. */
        "account-name": string;
        /** @description The name of a webhook, percent-encoded. */
        "webhook-name": string;
        /** @description The name of a warehouse, percent-encoded. */
        "warehouse-name": string;
        /** @description The namespace to look below, spelled as in a path. Empty means the top level. */
        parent: string;
        /** @description The warehouse that the client wants to use. */
        warehouse: string;
        /** @description Asks for a page. Empty for the first one, else the `next-page-token` of the page before. */
        "page-token": components["schemas"]["PageToken"];
        /** @description Most entries wanted in one page. The server may send fewer. */
        "page-size": bigint;
        /** @description `refs` leaves out snapshots that no branch or tag points at. */
        snapshots: "all" | "refs";
        /** @description An ETag of an earlier answer. */
        "if-none-match": string;
        /** @description Views through which the table or view is read. Accepted and not used. */
        "referenced-by": string;
        /** @description Whether the files of the table are to be deleted: those that its last metadata reaches and that lie in its own folders. A job does it after a time of grace, unless the table sets `gc.enabled` to something but `true`, is encrypted, or shares files with a live table. */
        "purge-requested": boolean;
        /** @description How the client would like to reach the files. A hint; unknown values are ignored. */
        "data-access": string;
        /** @description A UUID that stands for this one call. A repeat with the same key and the same content gets the outcome of the first; with other content, or while the first still runs, 409. */
        "idempotency-key": string;
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listAllTables: {
        parameters: {
            query?: {
                /** @description The warehouse that the client wants to use. */
                warehouse?: components["parameters"]["warehouse"];
                /** @description Asks for a page. Empty for the first one, else the `next-page-token` of the page before. */
                pageToken?: components["parameters"]["page-token"];
                /** @description Most entries wanted in one page. The server may send fewer. */
                pageSize?: components["parameters"]["page-size"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminTableList"];
                };
            };
            400: components["responses"]["bad-request"];
            401: components["responses"]["not-authorized"];
            /** @description There is no such warehouse. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IcebergErrorResponse"];
                };
            };
            "5XX": components["responses"]["failure"];
        };
    };
    getTable: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a table's row; it stays when the table is renamed. */
                id: components["parameters"]["table-id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The table and what its metadata says in short. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminTable"];
                };
            };
            401: components["responses"]["not-authorized"];
            404: components["responses"]["no-table-id"];
            "5XX": components["responses"]["failure"];
        };
    };
    getMaintenance: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a table's row; it stays when the table is renamed. */
                id: components["parameters"]["table-id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Each kind of job with its next trigger and last decision, and the last runs, newest first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MaintenanceReport"];
                };
            };
            401: components["responses"]["not-authorized"];
            404: components["responses"]["no-table-id"];
            "5XX": components["responses"]["failure"];
        };
    };
    getTableQueue: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a table's row; it stays when the table is renamed. */
                id: components["parameters"]["table-id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The queue and the line. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TableQueue"];
                };
            };
            401: components["responses"]["not-authorized"];
            404: components["responses"]["no-table-id"];
            "5XX": components["responses"]["failure"];
        };
    };
    compactTable: {
        parameters: {
            query?: {
                /** @description Whether only to plan. */
                "dry-run"?: boolean;
            };
            header?: never;
            path: {
                /** @description The id of a table's row; it stays when the table is renamed. */
                id: components["parameters"]["table-id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The plan of a dry run. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CompactionDryRun"];
                };
            };
            /** @description A run was asked for. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CompactionAccepted"];
                };
            };
            400: components["responses"]["bad-request"];
            401: components["responses"]["not-authorized"];
            404: components["responses"]["no-table-id"];
            "5XX": components["responses"]["failure"];
        };
    };
    listWarehouses: {
        parameters: {
            query?: {
                /** @description Asks for a page. Empty for the first one, else the `next-page-token` of the page before. */
                pageToken?: components["parameters"]["page-token"];
                /** @description Most entries wanted in one page. The server may send fewer. */
                pageSize?: components["parameters"]["page-size"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WarehouseList"];
                };
            };
            400: components["responses"]["bad-request"];
            401: components["responses"]["not-authorized"];
            "5XX": components["responses"]["failure"];
        };
    };
    createWarehouse: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewWarehouse"];
            };
        };
        responses: {
            /** @description The warehouse. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminWarehouse"];
                };
            };
            400: components["responses"]["bad-request"];
            401: components["responses"]["not-authorized"];
            /** @description The name is taken, or the place overlaps with another warehouse. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IcebergErrorResponse"];
                };
            };
            "5XX": components["responses"]["failure"];
        };
    };
    probeNewWarehouse: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewWarehouse"];
            };
        };
        responses: {
            /** @description What was tried and what came of it. A store that fails a check is an answer and no error. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WarehouseFindings"];
                };
            };
            400: components["responses"]["bad-request"];
            401: components["responses"]["not-authorized"];
            "5XX": components["responses"]["failure"];
        };
    };
    getWarehouse: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of a warehouse, percent-encoded. */
                name: components["parameters"]["warehouse-name"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The warehouse; of its credentials only that there are some. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminWarehouse"];
                };
            };
            400: components["responses"]["bad-request"];
            401: components["responses"]["not-authorized"];
            404: components["responses"]["no-warehouse"];
            "5XX": components["responses"]["failure"];
        };
    };
    deleteWarehouse: {
        parameters: {
            query?: {
                /** @description Whether to give up dropped tables, which otherwise hold the warehouse until they are purged. */
                force?: boolean;
            };
            header?: never;
            path: {
                /** @description The name of a warehouse, percent-encoded. */
                name: components["parameters"]["warehouse-name"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is gone. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["bad-request"];
            401: components["responses"]["not-authorized"];
            404: components["responses"]["no-warehouse"];
            /** @description Something is in it. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IcebergErrorResponse"];
                };
            };
            "5XX": components["responses"]["failure"];
        };
    };
    updateWarehouse: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of a warehouse, percent-encoded. */
                name: components["parameters"]["warehouse-name"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WarehouseChange"];
            };
        };
        responses: {
            /** @description The warehouse as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminWarehouse"];
                };
            };
            400: components["responses"]["bad-request"];
            401: components["responses"]["not-authorized"];
            404: components["responses"]["no-warehouse"];
            /** @description It has another version, is not empty, or would overlap with another warehouse. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IcebergErrorResponse"];
                };
            };
            "5XX": components["responses"]["failure"];
        };
    };
    probeWarehouse: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of a warehouse, percent-encoded. */
                name: components["parameters"]["warehouse-name"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What was tried and what came of it. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WarehouseFindings"];
                };
            };
            400: components["responses"]["bad-request"];
            401: components["responses"]["not-authorized"];
            404: components["responses"]["no-warehouse"];
            "5XX": components["responses"]["failure"];
        };
    };
    listDroppedTables: {
        parameters: {
            query?: {
                /** @description The warehouse that the client wants to use. */
                warehouse?: components["parameters"]["warehouse"];
                /** @description Asks for a page. Empty for the first one, else the `next-page-token` of the page before. */
                pageToken?: components["parameters"]["page-token"];
                /** @description Most entries wanted in one page. The server may send fewer. */
                pageSize?: components["parameters"]["page-size"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DroppedTableList"];
                };
            };
            400: components["responses"]["bad-request"];
            401: components["responses"]["not-authorized"];
            404: components["responses"]["no-warehouse"];
            "5XX": components["responses"]["failure"];
        };
    };
    purgeDroppedTable: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a table's row; it stays when the table is renamed. */
                id: components["parameters"]["table-id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The table and what becomes of its files. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DroppedTable"];
                };
            };
            400: components["responses"]["bad-request"];
            401: components["responses"]["not-authorized"];
            404: components["responses"]["no-table-id"];
            "5XX": components["responses"]["failure"];
        };
    };
    undropTable: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a table's row; it stays when the table is renamed. */
                id: components["parameters"]["table-id"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["UndropTarget"];
            };
        };
        responses: {
            /** @description The live table. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminTableRow"];
                };
            };
            400: components["responses"]["bad-request"];
            401: components["responses"]["not-authorized"];
            /** @description There is no such table, its namespace is gone, or its files are. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IcebergErrorResponse"];
                };
            };
            /** @description Its name or its location is taken, or a purge of its files has begun. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IcebergErrorResponse"];
                };
            };
            "5XX": components["responses"]["failure"];
        };
    };
    keepDroppedTable: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a table's row; it stays when the table is renamed. */
                id: components["parameters"]["table-id"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The table and what becomes of its files. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DroppedTable"];
                };
            };
            400: components["responses"]["bad-request"];
            401: components["responses"]["not-authorized"];
            404: components["responses"]["no-table-id"];
            /** @description The purge has begun. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IcebergErrorResponse"];
                };
            };
            "5XX": components["responses"]["failure"];
        };
    };
    listWebhooks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All of them. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookList"];
                };
            };
            401: components["responses"]["not-authorized"];
            "5XX": components["responses"]["failure"];
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewWebhook"];
            };
        };
        responses: {
            /** @description The webhook, with its secret, which is told this once. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedWebhook"];
                };
            };
            400: components["responses"]["bad-request"];
            401: components["responses"]["not-authorized"];
            /** @description The name is taken. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IcebergErrorResponse"];
                };
            };
            /** @description The events behind `after` are gone. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IcebergErrorResponse"];
                };
            };
            "5XX": components["responses"]["failure"];
        };
    };
    getWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of a webhook, percent-encoded. */
                name: components["parameters"]["webhook-name"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What was said of it, and how far the sending is. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminWebhook"];
                };
            };
            400: components["responses"]["bad-request"];
            401: components["responses"]["not-authorized"];
            404: components["responses"]["no-webhook"];
            "5XX": components["responses"]["failure"];
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of a webhook, percent-encoded. */
                name: components["parameters"]["webhook-name"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is gone. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["bad-request"];
            401: components["responses"]["not-authorized"];
            404: components["responses"]["no-webhook"];
            "5XX": components["responses"]["failure"];
        };
    };
    updateWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of a webhook, percent-encoded. */
                name: components["parameters"]["webhook-name"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookChange"];
            };
        };
        responses: {
            /** @description The webhook as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminWebhook"];
                };
            };
            400: components["responses"]["bad-request"];
            401: components["responses"]["not-authorized"];
            404: components["responses"]["no-webhook"];
            409: components["responses"]["changed-webhook"];
            "5XX": components["responses"]["failure"];
        };
    };
    probeWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of a webhook, percent-encoded. */
                name: components["parameters"]["webhook-name"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What came of it. A receiver that does not take it is an answer and no error. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookTrial"];
                };
            };
            400: components["responses"]["bad-request"];
            401: components["responses"]["not-authorized"];
            404: components["responses"]["no-webhook"];
            "5XX": components["responses"]["failure"];
        };
    };
    pauseWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of a webhook, percent-encoded. */
                name: components["parameters"]["webhook-name"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["WebhookPause"];
            };
        };
        responses: {
            /** @description The webhook as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminWebhook"];
                };
            };
            400: components["responses"]["bad-request"];
            401: components["responses"]["not-authorized"];
            404: components["responses"]["no-webhook"];
            409: components["responses"]["changed-webhook"];
            "5XX": components["responses"]["failure"];
        };
    };
    resumeWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of a webhook, percent-encoded. */
                name: components["parameters"]["webhook-name"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhook as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminWebhook"];
                };
            };
            400: components["responses"]["bad-request"];
            401: components["responses"]["not-authorized"];
            404: components["responses"]["no-webhook"];
            409: components["responses"]["changed-webhook"];
            "5XX": components["responses"]["failure"];
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of a webhook, percent-encoded. */
                name: components["parameters"]["webhook-name"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SecretRotation"];
            };
        };
        responses: {
            /** @description The new secret, which is told this once. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RotatedSecret"];
                };
            };
            400: components["responses"]["bad-request"];
            401: components["responses"]["not-authorized"];
            404: components["responses"]["no-webhook"];
            409: components["responses"]["changed-webhook"];
            "5XX": components["responses"]["failure"];
        };
    };
    replayWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of a webhook, percent-encoded. */
                name: components["parameters"]["webhook-name"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookReplay"];
            };
        };
        responses: {
            /** @description How many dead letters come back. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeadLetterCount"];
                };
            };
            400: components["responses"]["bad-request"];
            401: components["responses"]["not-authorized"];
            404: components["responses"]["no-webhook"];
            /** @description The events of that place are gone. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IcebergErrorResponse"];
                };
            };
            "5XX": components["responses"]["failure"];
        };
    };
    listDeadLetters: {
        parameters: {
            query?: {
                /** @description Asks for a page. Empty for the first one, else the `next-page-token` of the page before. */
                pageToken?: components["parameters"]["page-token"];
                /** @description Most entries wanted in one page. The server may send fewer. */
                pageSize?: components["parameters"]["page-size"];
            };
            header?: never;
            path: {
                /** @description The name of a webhook, percent-encoded. */
                name: components["parameters"]["webhook-name"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeadLetterList"];
                };
            };
            400: components["responses"]["bad-request"];
            401: components["responses"]["not-authorized"];
            404: components["responses"]["no-webhook"];
            "5XX": components["responses"]["failure"];
        };
    };
    discardDeadLetters: {
        parameters: {
            query?: {
                /** @description Only this one. */
                "event-id"?: string;
            };
            header?: never;
            path: {
                /** @description The name of a webhook, percent-encoded. */
                name: components["parameters"]["webhook-name"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description How many. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeadLetterCount"];
                };
            };
            400: components["responses"]["bad-request"];
            401: components["responses"]["not-authorized"];
            404: components["responses"]["no-webhook"];
            "5XX": components["responses"]["failure"];
        };
    };
    listAccounts: {
        parameters: {
            query?: {
                /** @description Asks for a page. Empty for the first one, else the `next-page-token` of the page before. */
                pageToken?: components["parameters"]["page-token"];
                /** @description Most entries wanted in one page. The server may send fewer. */
                pageSize?: components["parameters"]["page-size"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccountList"];
                };
            };
            400: components["responses"]["bad-request"];
            401: components["responses"]["not-authorized"];
            403: components["responses"]["forbidden"];
            "5XX": components["responses"]["failure"];
        };
    };
    createAccount: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewAccount"];
            };
        };
        responses: {
            /** @description The account. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedAccount"];
                };
            };
            400: components["responses"]["bad-request"];
            401: components["responses"]["not-authorized"];
            403: components["responses"]["forbidden"];
            /** @description The name, or the subject, is taken. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IcebergErrorResponse"];
                };
            };
            "5XX": components["responses"]["failure"];
        };
    };
    getAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of an account, percent-encoded. */
                name: components["parameters"]["account-name"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description With its grants and what may be known of its secrets. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminAccount"];
                };
            };
            400: components["responses"]["bad-request"];
            401: components["responses"]["not-authorized"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["no-account"];
            "5XX": components["responses"]["failure"];
        };
    };
    deleteAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of an account, percent-encoded. */
                name: components["parameters"]["account-name"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is gone. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["bad-request"];
            401: components["responses"]["not-authorized"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["no-account"];
            "5XX": components["responses"]["failure"];
        };
    };
    updateAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of an account, percent-encoded. */
                name: components["parameters"]["account-name"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AccountChange"];
            };
        };
        responses: {
            /** @description The account as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminAccount"];
                };
            };
            400: components["responses"]["bad-request"];
            401: components["responses"]["not-authorized"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["no-account"];
            409: components["responses"]["changed-account"];
            "5XX": components["responses"]["failure"];
        };
    };
    rotateAccountSecret: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The name of an account, percent-encoded. */
                name: components["parameters"]["account-name"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["AccountSecretRotation"];
            };
        };
        responses: {
            /** @description The new secret, which is told this once. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccountCredentials"];
                };
            };
            400: components["responses"]["bad-request"];
            401: components["responses"]["not-authorized"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["no-account"];
            "5XX": components["responses"]["failure"];
        };
    };
    listGrants: {
        parameters: {
            query?: {
                /** @description Only those of this account. */
                account?: string;
                /** @description Only those in this warehouse. */
                warehouse?: string;
                /** @description Asks for a page. Empty for the first one, else the `next-page-token` of the page before. */
                pageToken?: components["parameters"]["page-token"];
                /** @description Most entries wanted in one page. The server may send fewer. */
                pageSize?: components["parameters"]["page-size"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GrantList"];
                };
            };
            400: components["responses"]["bad-request"];
            401: components["responses"]["not-authorized"];
            403: components["responses"]["forbidden"];
            /** @description There is no such account or warehouse. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IcebergErrorResponse"];
                };
            };
            "5XX": components["responses"]["failure"];
        };
    };
    createGrant: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewGrant"];
            };
        };
        responses: {
            /** @description The grant. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AdminGrant"];
                };
            };
            400: components["responses"]["bad-request"];
            401: components["responses"]["not-authorized"];
            403: components["responses"]["forbidden"];
            /** @description There is no such account or warehouse. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IcebergErrorResponse"];
                };
            };
            "5XX": components["responses"]["failure"];
        };
    };
    deleteGrant: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The id of a grant. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is gone. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["bad-request"];
            401: components["responses"]["not-authorized"];
            403: components["responses"]["forbidden"];
            /** @description There is no such grant. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IcebergErrorResponse"];
                };
            };
            "5XX": components["responses"]["failure"];
        };
    };
    listAuditEntries: {
        parameters: {
            query?: {
                /** @description The id or the name of a caller. */
                caller?: string;
                /** @description The name that the warehouse had then. */
                warehouse?: string;
                /** @description An operation id. */
                action?: string;
                /** @description How it ended. */
                outcome?: "done" | "denied" | "failed";
                /** @description Not before. */
                "from-ms"?: bigint;
                /** @description Before. */
                "until-ms"?: bigint;
                /** @description Asks for a page. Empty for the first one, else the `next-page-token` of the page before. */
                pageToken?: components["parameters"]["page-token"];
                /** @description Most entries wanted in one page. The server may send fewer. */
                pageSize?: components["parameters"]["page-size"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditList"];
                };
            };
            400: components["responses"]["bad-request"];
            401: components["responses"]["not-authorized"];
            403: components["responses"]["forbidden"];
            "5XX": components["responses"]["failure"];
        };
    };
}

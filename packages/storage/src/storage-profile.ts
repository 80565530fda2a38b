/** Where the objects of a warehouse are and how they are reached; holds no secret. */
export type StorageProfile = FileProfile | S3Profile

/** Directories of the machine. */
export interface FileProfile {
  readonly type: 'file'
}

/** Buckets of an S3-compatible store. */
export interface S3Profile {
  readonly type: 's3'
  /** `http(s)://host[:port]`; absent for AWS itself. */
  readonly endpoint?: string
  readonly region: string
  /** Bucket in the path instead of the host name; most stores but AWS need it. */
  readonly pathStyle: boolean
  /** A role to assume with the credentials. */
  readonly roleArn?: string
  readonly externalId?: string
  /** Endpoint of STS for `roleArn`; default: that of the region. */
  readonly stsEndpoint?: string
}

/** Keys for a store; kept sealed, used in memory only. Absent for a warehouse: the process's own identity is used. */
export interface S3Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

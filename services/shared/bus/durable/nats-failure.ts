/** Formats the address of a server for error messages. */
export const formatServerName = (address: string): string => `NATS server "${address}"`

/** Returns host and port of a NATS URL, without credentials; `unknown` if the URL is invalid. */
export const parseServerAddress = (url: string): string => (URL.canParse(url) ? new URL(url).host : 'unknown')

/** Returns the cause and the remedy for an error code of JetStream. */
export const describeJetStreamError = (code: number, description = 'JetStream gives no reason'): string =>
  causes[code] ?? `${description}; check the log of the server`

const storageRemedy = 'free space on its disk or raise max_file_store of its JetStream, then restart it'

const causes: Readonly<Record<number, string>> = {
  10_023: `out of storage; ${storageRemedy}`,
  10_047: `too little storage is left for the streams; ${storageRemedy}`,
  10_028: 'out of memory for streams; raise max_memory_store of its JetStream',
  10_039: 'JetStream is not enabled for this account; enable it',
  10_076: 'JetStream is not enabled; enable it, or restart a server that disabled it because its disk was full',
  10_008: 'JetStream is not available at the moment; check its cluster and its disk',
  10_002: 'the account has reached its JetStream limits; raise them',
}

/** Returns why a publish was not acknowledged, with a remedy. */
export const describePublishFailure = (cause: unknown): string =>
  cause instanceof Error && /503|no responders/i.test(cause.message)
    ? `no stream accepts the message: JetStream is disabled or its disk is full; ${storageRemedy}`
    : `JetStream does not respond, possibly because its disk is full; ${storageRemedy}`

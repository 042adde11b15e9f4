/** Most that is sent in one piece: what four reads of a socket give, 64 KiB each, behind what was left of the row before. */
export const frameBytes = 288 * 1024

/** Times and sizes of the bus protocol. Tests shorten the times; a cluster's members must agree on the sizes. */
export const defaultLimits = {
  /** A handler that runs longer logs a warning at this interval. */
  workingEveryMs: 1_000,
  /** A caller that hears nothing for this long gives up: five missed `working` frames. */
  silenceMs: 5_000,
  /** A caller that is itself cut off for this long gives up. */
  cutOffMs: 1_000,
  /** The maximum duration of a call, even when its deadline is later. */
  maxCallMs: 24 * 3_600_000,
  /** A producer that is granted no credit for this long stops, and so does one that hears nothing at all. */
  starvedMs: 15_000,
  announceEveryMs: 2_000,
  /** An instance unheard for this long is dead: three missed announcements. */
  instanceDeadMs: 6_000,
  /** The retry delay returned with `busy`. */
  busyRetryMs: 1_000,
  /** Frames a producer may be ahead of its consumer: with 64 streams of 288 KiB frames, a consumer holds 72 MiB at most. */
  creditFrames: 4,
  frameBytes,
  /** Leaves room for headers under the 1 MiB that NATS accepts by default. */
  inputBytes: 768 * 1024,
  streamsPerConnection: 64,
  /** An answer to one question is gathered in memory, so it ends somewhere; longer ones are streams. */
  answerBytes: 64 * 1024 * 1024,
  maxInFlight: 256,
  /** Instances remembered of each service. */
  instances: 1_024,
} as const

/** The protocol's numbers with their defaults replaced where a test needs it. */
export type Limits = { readonly [N in keyof typeof defaultLimits]: number }

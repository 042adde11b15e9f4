/** Maximum size of a frame: four socket reads of 64 KiB plus a partial row. */
export const maxFrameBytes = 288 * 1024

/** Times and sizes of the bus protocol. Tests shorten the times; all processes of a cluster must agree on the sizes. */
export const defaultBusLimits = {
  /** Interval of `working` frames while a handler runs. */
  workingEveryMs: 1_000,
  /** A caller gives up after this long without a frame: five missed `working` frames. */
  silenceMs: 5_000,
  /** A caller without a frame requests the state of its request this often. */
  stateEveryMs: 400,
  /** A caller gives up when the instance has had no subscription for this long, longer than a reconnection takes. */
  missingMs: 1_500,
  /** A caller gives up after a disconnection of this length. A restart of NATS is shorter. */
  cutOffMs: 8_000,
  /** How long a request waits for a process of a service that was running until recently. */
  unheardMs: 3_000,
  /** The maximum duration of a call, even when its deadline is later. */
  maxCallMs: 24 * 3_600_000,
  /** A producer stops after this long without credit or without any message of the consumer. */
  starvedMs: 15_000,
  announceEveryMs: 2_000,
  /** An instance without announcements for this long counts as dead: three missed announcements. */
  instanceDeadMs: 6_000,
  /** A service without announcements for this long is not expected to come back. */
  serviceGoneMs: 60_000,
  /** The retry delay returned with `busy`. */
  busyRetryMs: 1_000,
  /** Frames a producer may be ahead of its consumer: at most 72 MiB for 64 streams with frames of 288 KiB. */
  creditFrames: 4,
  frameBytes: maxFrameBytes,
  /** Maximum size of a request body; leaves room for headers within the 1 MiB that NATS accepts by default. */
  inputBytes: 768 * 1024,
  streamsPerConnection: 64,
  /** Maximum size of a response in memory; larger results are streams. */
  answerBytes: 64 * 1024 * 1024,
  maxInFlight: 256,
  /** Maximum known instances per service. */
  instances: 1_024,
} as const

/** The limits of the protocol; tests replace single values. */
export type BusLimits = { readonly [N in keyof typeof defaultBusLimits]: number }

import type { Clock } from '../time/clock.ts'
import type { Bus } from '../bus/bus.ts'
import type { Queue } from '../bus/durable/queue.ts'
import type { Environment } from '../config/environment.ts'
import type { SettingProblem, Settings } from '../config/setting.ts'
import type { Net } from '../net/net.ts'
import type { Store } from '../store/store.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'

/** The dependencies of every service that differ between a test, a laptop and a cluster. */
export interface Context {
  /** Read for each request, because files of settings may change. */
  env: Environment
  bus: Bus
  store: Store
  /** Opens the durable queue of this service; the caller disposes it. */
  openQueue(): Promise<Queue>
  /** Sends requests to external servers. */
  net: Net
  telemetry: Telemetry
  clock: Clock
  readiness: Readiness
}

/** The needs of the process before it receives requests; monitored hosts are never among them. */
export interface Readiness {
  /** Adds a need. `met` checks it and `problem` describes it for the operator. */
  require(name: string, met: () => boolean, problem?: () => string | undefined): void
}

/** Opens the resources of a service and serves its contract. */
export type Start = (context: Context) => Promise<RunningService>

/** A running service; disposing it first finishes the work in flight. */
export interface RunningService extends AsyncDisposable {
  /** The URL of a service that serves HTTP. */
  readonly url?: string
}

/** The exports of the `config.ts` of a service, checked for all chosen services before any of them starts. */
export interface ServiceConfig {
  readonly settings: Settings
  /** Returns problems of settings in combination; `settings` checks each setting alone. */
  problems?(env: Environment): readonly SettingProblem[]
}

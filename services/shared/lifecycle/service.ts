import type { Clock } from '../time/clock.ts'
import type { Bus } from '../bus/bus.ts'
import type { Queue } from '../bus/durable/queue.ts'
import type { Environment } from '../config/environment.ts'
import type { SettingProblem, Settings } from '../config/setting.ts'
import type { Net } from '../net/net.ts'
import type { Store } from '../store/store.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'

/** The dependencies that every service receives at its start; tests replace them. */
export interface ServiceContext {
  /** The settings. Services read them for each request, because variables from files may change. */
  env: Environment
  bus: Bus
  store: Store
  /** Opens the durable queue of this service; the caller disposes it. */
  openQueue(): Promise<Queue>
  /** The client for requests to external servers. */
  net: Net
  telemetry: Telemetry
  clock: Clock
  readiness: Readiness
}

/** A registry of readiness conditions. The state of monitored hosts is never a condition. */
export interface Readiness {
  /** Adds a condition: `met` returns whether it is met, `problem` describes its problem for the operator. */
  require(name: string, met: () => boolean, problem?: () => string | undefined): void
}

/** The function that starts a service: opens its resources and serves its contract. */
export type ServiceStarter = (context: ServiceContext) => Promise<RunningService>

/** A running service; disposing it first finishes the work in flight. */
export interface RunningService extends AsyncDisposable {
  /** The URL of a service that serves HTTP. */
  readonly url?: string
}

/** The exports of the `config.ts` of a service. All chosen services are checked before any of them starts. */
export interface ServiceConfig {
  readonly settings: Settings
  /** Returns problems that only a combination of settings causes. `settings` validates each setting alone. */
  problems?(env: Environment): readonly SettingProblem[]
}

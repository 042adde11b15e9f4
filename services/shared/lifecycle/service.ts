import type { Clock } from '../time/clock.ts'
import type { Bus } from '../bus/bus.ts'
import type { Queue } from '../bus/durable/queue.ts'
import type { Environment } from '../config/environment.ts'
import type { SettingProblem, Settings } from '../config/setting.ts'
import type { Net } from '../net/net.ts'
import type { Store } from '../store/store.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'

/** What varies between a test, a laptop and a cluster; handed to every service when it starts. */
export interface Context {
  /** Settings are read from here when a request is handled. */
  env: Environment
  bus: Bus
  store: Store
  /** Opens this service's queue of messages that outlive their sender; the caller disposes it. */
  openQueue(): Promise<Queue>
  /** The way to servers of others. */
  net: Net
  telemetry: Telemetry
  clock: Clock
  readiness: Readiness
}

/** What the process itself needs before it may get work; never the monitored hosts. */
export interface Readiness {
  /** Names a need, how to see that it is met, and what is wrong with it, in words for an operator. */
  require(name: string, met: () => boolean, problem?: () => string | undefined): void
}

/** Opens what a service owns, serves its contract, and returns what releases it. */
export type Start = (context: Context) => Promise<RunningService>

/** A service that runs; disposing it finishes the work in flight first. */
export interface RunningService extends AsyncDisposable {
  /** Where people reach it, of a service with a door of its own. */
  readonly url?: string
}

/** What `config.ts` of a service exports under these names; checked for all chosen services before any of them starts. */
export interface ServiceConfig {
  readonly settings: Settings
  /** What is wrong with several settings taken together; each one alone is checked by `settings`. */
  problems?(env: Environment): readonly SettingProblem[]
}

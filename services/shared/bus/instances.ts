import type { ServiceName } from '#proto/call.ts'
import type { ServingRole } from './bus.ts'
import type { BusLimits } from './limits.ts'
import type { EventSender } from './subject.ts'

/** The announcement of an instance. */
interface Announcement {
  instance: string
  load: number
  leaving: boolean
  part?: ServingRole | undefined
}

/** The last announcement of an instance. */
interface KnownInstance {
  heardMs: number
  load: number
  part: ServingRole
}

type KnownInstances = Map<string, KnownInstance>

/** Tracks the live instances of all services by their announcements. */
export class InstanceRegistry {
  readonly #limits: Pick<BusLimits, 'instanceDeadMs' | 'instances' | 'serviceGoneMs'>
  readonly #nowMs: () => number
  readonly #known = new Map<ServiceName, KnownInstances>()
  /** Guest instances, stored separately so that their announcements cannot replace those of other instances. */
  readonly #guests = new Map<ServiceName, KnownInstances>()
  /** When an instance of each service last announced itself, also that it leaves. */
  readonly #heardMs = new Map<ServiceName, number>()

  /** `nowMs` is a monotonic clock. */
  constructor(limits: Pick<BusLimits, 'instanceDeadMs' | 'instances' | 'serviceGoneMs'>, nowMs: () => number) {
    this.#limits = limits
    this.#nowMs = nowMs
  }

  /** Records an announcement. */
  hear({ instance, load, leaving, part = 'all' }: Announcement, { service, isGuest }: EventSender): void {
    this.#heardMs.set(service, this.#nowMs())
    const known = isGuest ? knownIn(this.#guests, service) : knownIn(this.#known, service)
    known.delete(instance)
    // Instances beyond the limit are still reachable through their queue group.
    if (leaving || known.size >= this.#limits.instances) return
    known.set(instance, { heardMs: this.#nowMs(), load, part: isGuest ? 'guest' : part })
  }

  /** Removes an instance that is not connected, until its next announcement. */
  forget(service: ServiceName, instance: string): void {
    this.#known.get(service)?.delete(instance)
    this.#guests.get(service)?.delete(instance)
  }

  /** Returns whether an instance announced itself recently and has not left. */
  isAlive(service: ServiceName, instance: string): boolean {
    return this.of(service).includes(instance) || this.of(service, 'guest').includes(instance)
  }

  /** Returns the live instances of a service that accept requests for user connections (`guest`) or others (`own`). */
  of(service: ServiceName, part: Exclude<ServingRole, 'all'> = 'own'): string[] {
    const names: string[] = []
    this.#visit(service, part, (instance) => names.push(instance))
    return names
  }

  /** Returns whether a process of the service was running recently, so that one probably runs again soon. */
  expects(service: ServiceName): boolean {
    return this.#nowMs() - (this.#heardMs.get(service) ?? Number.NEGATIVE_INFINITY) < this.#limits.serviceGoneMs
  }

  /** Returns the instance with the lowest announced load; undefined if none is known. */
  leastLoaded(service: ServiceName): string | undefined {
    let least: { instance: string; load: number } | undefined
    this.#visit(service, 'own', (instance, { load }) => {
      if (least === undefined || load < least.load) least = { instance, load }
    })
    return least?.instance
  }

  /** Calls `visit` for each live instance that accepts these requests. */
  #visit(service: ServiceName, part: ServingRole, visit: (instance: string, known: KnownInstance) => void): void {
    const deadline = this.#nowMs() - this.#limits.instanceDeadMs
    for (const all of [this.#known, this.#guests]) {
      const known = all.get(service)
      if (known === undefined) continue
      for (const [instance, each] of known) {
        if (each.heardMs < deadline) known.delete(instance)
        else if (each.part === 'all' || each.part === part) visit(instance, each)
      }
    }
  }
}

const knownIn = (all: Map<ServiceName, KnownInstances>, service: ServiceName): KnownInstances => {
  const known = all.get(service) ?? new Map<string, KnownInstance>()
  all.set(service, known)
  return known
}

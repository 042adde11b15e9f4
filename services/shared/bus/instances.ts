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

  /** Returns the live instances of a service that accept requests for user connections (`guest`) or others (`own`). */
  of(service: ServiceName, part: Exclude<ServingRole, 'all'> = 'own'): string[] {
    return this.#taking(service, part).map(([instance]) => instance)
  }

  /** Returns whether a process of the service was running recently, so that one probably runs again soon. */
  expects(service: ServiceName): boolean {
    return this.#nowMs() - (this.#heardMs.get(service) ?? Number.NEGATIVE_INFINITY) < this.#limits.serviceGoneMs
  }

  /** Returns the instance with the lowest announced load; undefined if none is known. */
  leastLoaded(service: ServiceName): string | undefined {
    return this.#taking(service, 'own').toSorted(([, a], [, b]) => a.load - b.load)[0]?.[0]
  }

  #taking(service: ServiceName, part: ServingRole): [string, KnownInstance][] {
    const known = [knownIn(this.#known, service), knownIn(this.#guests, service)]
    return known
      .flatMap((each) => [...this.#alive(each)])
      .filter(([, { part: taken }]) => taken === 'all' || taken === part)
  }

  #alive(known: KnownInstances): KnownInstances {
    const deadline = this.#nowMs() - this.#limits.instanceDeadMs
    for (const [instance, { heardMs }] of known) if (heardMs < deadline) known.delete(instance)
    return known
  }
}

const knownIn = (all: Map<ServiceName, KnownInstances>, service: ServiceName): KnownInstances => {
  const known = all.get(service) ?? new Map<string, KnownInstance>()
  all.set(service, known)
  return known
}

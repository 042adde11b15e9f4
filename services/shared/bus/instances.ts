import type { ServiceName } from '#proto/call.ts'
import type { Limits } from './limits.ts'

/** What is told of an instance. */
interface Announcement {
  service: ServiceName
  instance: string
  load: number
  leaving: boolean
}

/** An instance as it was last heard of. */
interface Known {
  heardMs: number
  load: number
}

/** The instances of every service that were heard of lately. */
export class Instances {
  readonly #limits: Pick<Limits, 'instanceDeadMs' | 'instances'>
  readonly #nowMs: () => number
  readonly #known = new Map<ServiceName, Map<string, Known>>()

  /** `nowMs` is any clock that only moves forward. */
  constructor(limits: Pick<Limits, 'instanceDeadMs' | 'instances'>, nowMs: () => number) {
    this.#limits = limits
    this.#nowMs = nowMs
  }

  hear({ service, instance, load, leaving }: Announcement): void {
    const known = this.#known.get(service) ?? new Map<string, Known>()
    this.#known.set(service, known)
    known.delete(instance)
    // Beyond the limit the others still answer, through their queue group.
    if (!leaving && known.size < this.#limits.instances) known.set(instance, { heardMs: this.#nowMs(), load })
  }

  /** Those of a service that are alive. */
  of(service: ServiceName): string[] {
    return [...this.#alive(service).keys()]
  }

  /** The one of a service with the least load when it last announced itself; undefined when none is known. */
  leastLoaded(service: ServiceName): string | undefined {
    return [...this.#alive(service)].toSorted(([, a], [, b]) => a.load - b.load)[0]?.[0]
  }

  #alive(service: ServiceName): ReadonlyMap<string, Known> {
    const known = this.#known.get(service) ?? new Map<string, Known>()
    const deadline = this.#nowMs() - this.#limits.instanceDeadMs
    for (const [instance, { heardMs }] of known) if (heardMs < deadline) known.delete(instance)
    return known
  }
}

import type { ServiceName } from '#proto/call.ts'
import type { Part } from './bus.ts'
import type { Limits } from './limits.ts'

/** What is told of an instance. */
interface Announcement {
  service: ServiceName
  instance: string
  load: number
  leaving: boolean
  part?: Part | undefined
}

/** An instance as it was last heard of. */
interface Known {
  heardMs: number
  load: number
  part: Part
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

  hear({ service, instance, load, leaving, part = 'all' }: Announcement): void {
    const known = this.#known.get(service) ?? new Map<string, Known>()
    this.#known.set(service, known)
    known.delete(instance)
    // Beyond the limit the others still answer, through their queue group.
    if (!leaving && known.size < this.#limits.instances) known.set(instance, { heardMs: this.#nowMs(), load, part })
  }

  /** Those of a service that are alive and take questions of this part. */
  of(service: ServiceName, part: Exclude<Part, 'all'> = 'own'): string[] {
    return this.#taking(service, part).map(([instance]) => instance)
  }

  /** The one of a service with the least load when it last announced itself; undefined when none is known. */
  leastLoaded(service: ServiceName): string | undefined {
    return this.#taking(service, 'own').toSorted(([, a], [, b]) => a.load - b.load)[0]?.[0]
  }

  #taking(service: ServiceName, part: Part): [string, Known][] {
    return [...this.#alive(service)].filter(([, known]) => known.part === 'all' || known.part === part)
  }

  #alive(service: ServiceName): ReadonlyMap<string, Known> {
    const known = this.#known.get(service) ?? new Map<string, Known>()
    const deadline = this.#nowMs() - this.#limits.instanceDeadMs
    for (const [instance, { heardMs }] of known) if (heardMs < deadline) known.delete(instance)
    return known
  }
}

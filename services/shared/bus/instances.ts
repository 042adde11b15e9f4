import type { ServiceName } from '#proto/call.ts'
import type { Limits } from './limits.ts'

/** What is told of an instance. */
interface Announcement {
  service: ServiceName
  instance: string
  leaving: boolean
}

/** The instances of every service that were heard of lately. */
export class Instances {
  readonly #limits: Pick<Limits, 'instanceDeadMs' | 'instances'>
  readonly #nowMs: () => number
  readonly #heardMs = new Map<ServiceName, Map<string, number>>()

  /** `nowMs` is any clock that only moves forward. */
  constructor(limits: Pick<Limits, 'instanceDeadMs' | 'instances'>, nowMs: () => number) {
    this.#limits = limits
    this.#nowMs = nowMs
  }

  hear({ service, instance, leaving }: Announcement): void {
    const known = this.#heardMs.get(service) ?? new Map<string, number>()
    this.#heardMs.set(service, known)
    known.delete(instance)
    // Beyond the limit the others still answer, through their queue group.
    if (!leaving && known.size < this.#limits.instances) known.set(instance, this.#nowMs())
  }

  /** Those of a service that are alive. */
  of(service: ServiceName): string[] {
    const known = this.#heardMs.get(service)
    if (!known) return []
    const deadline = this.#nowMs() - this.#limits.instanceDeadMs
    for (const [instance, heardMs] of known) if (heardMs < deadline) known.delete(instance)
    return [...known.keys()]
  }
}

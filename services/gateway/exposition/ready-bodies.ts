const maxBodies = 64
const maxBytes = 64 * 1024 * 1024

interface Ready {
  body: Buffer
  freshUntilMs: number
}

/** Bodies that are ready to be sent, by what was asked; the oldest go first. */
export interface ReadyBodies {
  /** Builds it unless one is fresh or on its way. A failure is told to all who wait and not kept. */
  of(key: string, build: () => Promise<Ready>): Promise<Buffer>
}

export const openReadyBodies = (elapsedMs: () => number): ReadyBodies => {
  const ready = new Map<string, Ready>()
  const building = new Map<string, Promise<Buffer>>()

  const keep = (key: string, fresh: Ready): Buffer => {
    ready.delete(key)
    ready.set(key, fresh)
    let bytes = 0
    // The newest come last; whatever lies before those that fit is dropped.
    for (const [index, [other, { body }]] of [...ready].toReversed().entries()) {
      bytes += body.length
      if (index >= maxBodies || bytes > maxBytes) ready.delete(other)
    }
    return fresh.body
  }

  const begin = (key: string, build: () => Promise<Ready>): Promise<Buffer> => {
    const begun = build()
      .then((fresh) => keep(key, fresh))
      .finally(() => building.delete(key))
    building.set(key, begun)
    return begun
  }

  return {
    async of(key, build) {
      const known = ready.get(key)
      if (known && known.freshUntilMs > elapsedMs()) return known.body
      return building.get(key) ?? begin(key, build)
    },
  }
}

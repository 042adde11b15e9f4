import { describe, it } from 'vitest'
import { chromiumProgram } from './servers/chromium.ts'
import { findProgram, type ServerKind, sourceOf } from './servers/source.ts'
import { night } from './totals.ts'

export { startNats } from './servers/nats.ts'
export { startPostgres } from './servers/postgres.ts'
export { startRedis } from './servers/redis.ts'
export { type TestServer } from './servers/server.ts'

/** What checks the chart; `.ci/chart-tools` installs it, and a machine without it leaves those suites out. */
const programs = ['helm', 'helm-unittest', 'kubeconform', 'kustomize', 'compose-spec'] as const

/** What takes long to build, by `.ci/api-server`: only machines of the night have it. */
const nightly = ['kube-apiserver', 'etcd'] as const

type Need = ServerKind | 'chromium' | (typeof programs)[number] | (typeof nightly)[number]

/**
 * A `describe` that needs real servers or a browser. Where one cannot be had the suite is left out and says so; with `CI`
 * set that is a failing test instead, unless only what nights have is missing. Suites with the tag `long` run with `npm run test:all` alone.
 */
export const describeWith = (needs: readonly Need[], name: string, body: () => void, tags: string[] = []): void => {
  const missing = needs.filter((need) => !isThere(need))
  if (missing.length === 0) return void describe(name, { tags }, body)
  const sentence = `${missing.join(' and ')} not found: neither an address, nor a binary, nor Docker`
  const isOfNight = missing.every(isNightly)
  if (process.env.CI && !isOfNight) {
    return void describe(name, { tags }, () => {
      it('has the servers it needs', () => {
        throw new Error(sentence)
      })
    })
  }
  process.stderr.write(`LEFT OUT: ${name} (${sentence})\n`)
  describe.skip(name, { tags: isOfNight ? [...tags, night] : tags }, body)
}

const isThere = (need: Need): boolean => {
  if (need === 'chromium') return chromiumProgram() !== undefined
  return isProgram(need) || isNightly(need) ? findProgram(need) !== undefined : sourceOf(need) !== undefined
}

const isProgram = (need: string): need is (typeof programs)[number] => programs.some((program) => program === need)

const isNightly = (need: string): need is (typeof nightly)[number] => nightly.some((program) => program === need)

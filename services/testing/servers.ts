import { describe, it } from 'vitest'
import { chromiumProgram } from './servers/chromium.ts'
import { findProgram, type ServerKind, sourceOf } from './servers/source.ts'
import { night } from './totals.ts'

export { startNats } from './servers/nats.ts'
export { startPostgres } from './servers/postgres.ts'
export { startRedis } from './servers/redis.ts'
export { type TestServer } from './servers/server.ts'

/** Programs that check the chart, installed by `.ci/chart-tools`. Without them the suites are skipped. */
const programs = ['helm', 'helm-unittest', 'kubeconform', 'kustomize', 'compose-spec'] as const

/** Programs that `.ci/api-server` builds, which takes long; only nightly machines have them. */
const nightly = ['kube-apiserver', 'etcd'] as const

type Need = ServerKind | 'chromium' | (typeof programs)[number] | (typeof nightly)[number]

/**
 * A `describe` that needs real servers or a browser. Without them the suite is skipped with a message. With `CI` set it fails
 * instead, unless only nightly programs are missing. Suites with the tag `long` run only with `npm run test:all`.
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

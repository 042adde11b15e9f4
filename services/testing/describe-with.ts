import { describe, it } from 'vitest'
import { findChromium } from './servers/chromium.ts'
import { findProgram, type ServerKind, findServerSource } from './servers/server-source.ts'
import { nightlyTag } from './test-totals.ts'

export { startNats } from './servers/nats.ts'
export { startPostgres } from './servers/postgres.ts'
export { startRedis } from './servers/redis.ts'
export { type TestServer } from './servers/server.ts'

/** Programs that suites of the chart need. `.ci/chart-tools` installs them. */
const programs = ['helm', 'helm-unittest', 'kubeconform', 'kustomize', 'compose-spec'] as const

/**
 * Programs that are optional even in CI. `.ci/kubernetes` builds the API server, which takes long. The test of a pushed
 * release needs the other two, which are Debian packages.
 */
const nightly = ['kube-apiserver', 'etcd', 'docker-registry', 'gpg'] as const

type Need = ServerKind | 'chromium' | (typeof programs)[number] | (typeof nightly)[number]

/**
 * A `describe` that needs real servers, programs or a browser. If one is missing, it skips the suite and prints a
 * message. With `CI` set, the suite fails instead, unless only nightly programs are missing.
 */
export const describeWith = (needs: readonly Need[], name: string, body: () => void, tags: string[] = []): void => {
  const missing = needs.filter((need) => !isThere(need))
  if (missing.length === 0) return void describe(name, { tags }, body)
  const sentence = `${missing.join(' and ')} not found: no address variable, no program, no Docker`
  const isOfNight = missing.every(isNightly)
  if (process.env.CI && !isOfNight) {
    return void describe(name, { tags }, () => {
      it('has the servers it needs', () => {
        throw new Error(sentence)
      })
    })
  }
  process.stderr.write(`SKIPPED: ${name} (${sentence})\n`)
  describe.skip(name, { tags: isOfNight ? [...tags, nightlyTag] : tags }, body)
}

const isThere = (need: Need): boolean => {
  if (need === 'chromium') return findChromium() !== undefined
  return isProgram(need) || isNightly(need) ? findProgram(need) !== undefined : findServerSource(need) !== undefined
}

const isProgram = (need: string): need is (typeof programs)[number] => programs.some((program) => program === need)

const isNightly = (need: string): need is (typeof nightly)[number] => nightly.some((program) => program === need)

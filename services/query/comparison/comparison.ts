import { requireFeature } from '#proto/call.ts'
import type { Handlers } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import { analysisSpan, shownWindow } from '../analysis/analysis-window.ts'
import { askEach } from '../ask-each.ts'
import type { Parts } from '../handlers/parts.ts'
import { readFurther, readHost } from './read-host.ts'
import { sideBySide } from './side-by-side.ts'

/** Several hosts side by side. */
export const comparison =
  (parts: Parts): Handlers<typeof query>['comparison'] =>
  async ({ hostKeys, ...asked }, call) => {
    requireFeature(call.identity, 'OVERVIEW', 'the comparison of hosts')
    // A window that is none is the caller's mistake and not the failure of each host.
    analysisSpan(asked, parts.clock.now())
    const hosts = await askEach(parts, hostKeys, call, (host, own) => readHost(parts, host, asked, own))
    const answers = new Map(hosts.map(({ host, answer }) => [host.key, answer]))
    const hashes = [...new Set(hosts.flatMap(({ answer }) => answer?.rows ?? []).map(({ hash }) => hash))]
    const patterns = await askEach(parts, hostKeys, call, async (host, own) => {
      const answer = answers.get(host.key)
      return answer ? readFurther(parts, host, answer, hashes, own) : []
    })
    const [first] = hosts.flatMap(({ answer }) => answer ?? [])
    return {
      hosts: hosts.map(({ asked: { hostKey, error }, answer }, index) => ({
        hostKey,
        error: error ?? patterns[index]?.asked.error ?? null,
        status: answer?.status ?? null,
        metrics: answer?.metrics ?? null,
        unavailable: answer?.unavailable ?? null,
      })),
      patterns: sideBySide(
        patterns.map(({ answer }) => answer ?? []),
        asked.limit,
      ),
      window: first ? { ...shownWindow(first.window), interval: null } : null,
    }
  }

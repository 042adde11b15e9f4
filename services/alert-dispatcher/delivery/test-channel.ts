import { randomUUID } from 'node:crypto'
import type { alerts } from '#proto/alerts.ts'
import type { TestedTarget } from '#proto/channels.ts'
import type { Handlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { noSuch } from '#shared/text/no-such.ts'
import type { Context } from '#shared/lifecycle/service.ts'
import { openInstallationId } from '#shared/store/installation.ts'
import type { SendResult } from '../channels/channel.ts'
import { channels } from '../channels/index.ts'
import { type Target, targetsNow } from '../channels/targets.ts'
import { brokenNotice } from './broken.ts'
import { messageFrame } from '../messages/message-settings.ts'
import { type Message, messageOf } from '../messages/message.ts'
import { afterFailedTest, leave, Pace, paceKey } from './pace.ts'
import { asMessage, type Notice } from '../notice.ts'
import type { Policy } from '../policy.ts'

/** What sending tests needs. */
export type Testing = Pick<Context, 'env' | 'store' | 'net' | 'clock'>

/** Sends a test message past routes, floors and the outbox: whoever asks waits for what the other end says. */
export const testChannel = (
  testing: Testing & { policy(): Promise<Policy> },
): Pick<Handlers<typeof alerts>, 'testChannel'> => ({
  testChannel: async ({ channel, target }) => {
    const found = targetsToTest(testing.env, channel, target, await testing.policy())
    return Promise.all(found.map((each) => sendTest(testing, each)))
  },
})

const targetsToTest = (env: Context['env'], id: string, name: string | undefined, policy: Policy): Target[] => {
  const channel = channels.find((each) => each.id === id)
  const ids = channels.map((each) => each.id)
  if (!channel) throw noSuch('channel', id, ids, 'channel')
  const on = { ...policy.channels, [id]: { variables: {}, ...policy.channels[id], enabled: true } }
  const possible = targetsNow({ channels: [channel], env, policy: { ...policy, channels: on } })
  if (possible.length === 0) throw new ServiceError('conflict', `the channel ${id} is not set up: settings are missing`)
  const found = possible.filter((target) => name === undefined || target.name === name)
  const names = possible.map((target) => target.name)
  if (found.length === 0 && name !== undefined) throw noSuch('target', name, names, 'target')
  return found
}

const testNotice = (nowMs: number): Notice => {
  const episode = `test:${randomUUID()}`
  return {
    id: `${episode}:0`,
    kind: 'test',
    episode,
    sequence: 0,
    hostKey: null,
    source: null,
    ruleId: 'test',
    title: 'Alerts arrive here',
    severity: 'warning',
    value: null,
    threshold: null,
    unit: 'none',
    offenders: [],
    runbook: 'Nothing is wrong.',
    sinceMs: nowMs,
    atMs: nowMs,
    reason: 'somebody tests this channel',
    gathered: [],
  }
}

/** Sends one test message to one target, and says how that ended. */
export const sendTest = async (testing: Testing, target: Target): Promise<TestedTarget> => {
  const { env, clock, store } = testing
  const origin = await openInstallationId(store)()
  const message = messageOf(testNotice(clock.now()), { ...messageFrame(env), origin }, new Map())
  const result = await target.send(message, testing.net)
  await record(testing, target, message, result)
  const reason = result.kind === 'ok' ? (result.remark ?? null) : result.reason
  return { name: target.name, result: result.kind, reason }
}

/** What takes a test takes alerts too, so that nobody waits for the end of its rest. */
const record = async (
  { store, clock }: Testing,
  { channel, id: target, own }: Target,
  { notice }: Message,
  result: SendResult,
): Promise<void> => {
  await store.update(paceKey(channel, target), Pace, (before) => {
    const [nowMs, restMs] = [clock.now(), () => 0]
    if (result.kind !== 'ok') return { value: afterFailedTest(before, result, nowMs) }
    const value = leave(before, { episodes: [notice.episode], nowMs, result, restMs })
    const told = own ? undefined : brokenNotice({ channel, target }, before?.broken ?? null, value.broken, nowMs)
    return { value, outbox: told ? [asMessage(told)] : [] }
  })
}

import { randomUUID } from 'node:crypto'
import type { alerts } from '#proto/alerts.ts'
import type { TestMessageResult } from '#proto/channels.ts'
import type { ServiceHandlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { createNotFoundError } from '#shared/text/not-found.ts'
import type { ServiceContext } from '#shared/lifecycle/service.ts'
import { openInstallationId } from '#shared/store/installation.ts'
import type { SendResult } from '../channels/channel.ts'
import { channels } from '../channels/index.ts'
import { type NotificationTarget, listEnabledTargets } from '../channels/targets.ts'
import { buildMisconfiguredTargetNotification } from './misconfigured-notification.ts'
import { readMessageSettings } from '../messages/message-settings.ts'
import { type Message, renderMessage } from '../messages/message.ts'
import { recordFailedTest, releaseSend, TargetRateLimit, getRateLimitKey } from './rate-limit.ts'
import { toOutboxMessage, type Notification } from '../notification.ts'
import type { Policy } from '../policy.ts'

/** Dependencies of test messages. */
export type SendTestDeps = Pick<ServiceContext, 'env' | 'store' | 'net' | 'clock'>

/**
 * Returns the handler that sends a test message to the targets of a channel and returns the results. It bypasses
 * routes, minimum severities and the outbox.
 */
export const createTestChannelHandler = (
  deps: SendTestDeps & { policy(): Promise<Policy> },
): Pick<ServiceHandlers<typeof alerts>, 'testChannel'> => ({
  testChannel: async ({ channel, target }) => {
    const found = selectTestTargets(deps.env, channel, target, await deps.policy())
    return Promise.all(found.map((each) => sendTestMessage(deps, each)))
  },
})

const selectTestTargets = (
  env: ServiceContext['env'],
  id: string,
  name: string | undefined,
  policy: Policy,
): NotificationTarget[] => {
  const channel = channels.find((each) => each.id === id)
  const ids = channels.map((each) => each.id)
  if (!channel) throw createNotFoundError('channel', id, ids, 'channel')
  const on = { ...policy.channels, [id]: { variables: {}, ...policy.channels[id], enabled: true } }
  const possible = listEnabledTargets({ channels: [channel], env, policy: { ...policy, channels: on } })
  if (possible.length === 0)
    throw new ServiceError('conflict', `cannot test channel "${id}": required settings are missing`)
  const found = possible.filter((target) => name === undefined || target.name === name)
  const names = possible.map((target) => target.name)
  if (found.length === 0 && name !== undefined) throw createNotFoundError('target', name, names, 'target')
  return found
}

const createTestNotification = (nowMs: number): Notification => {
  const episode = `test:${randomUUID()}`
  return {
    id: `${episode}:0`,
    kind: 'test',
    episode,
    sequence: 0,
    hostKey: null,
    source: null,
    ruleId: 'test',
    title: 'Notifications work',
    severity: 'warning',
    value: null,
    threshold: null,
    unit: 'none',
    offenders: [],
    runbook: 'This is a test. No action is needed.',
    sinceMs: nowMs,
    atMs: nowMs,
    reason: 'test of this channel',
    gathered: [],
  }
}

/** Sends a test message to one target and returns the result. */
export const sendTestMessage = async (deps: SendTestDeps, target: NotificationTarget): Promise<TestMessageResult> => {
  const { env, clock, store } = deps
  const origin = await openInstallationId(store)()
  const message = renderMessage(createTestNotification(clock.now()), { ...readMessageSettings(env), origin }, new Map())
  const result = await target.send(message, deps.net)
  await recordTestResult(deps, target, message, result)
  const reason = result.kind === 'ok' ? (result.remark ?? null) : result.reason
  return { name: target.name, result: result.kind, reason }
}

/** Records the result. A successful test ends the pause of the target. */
const recordTestResult = async (
  { store, clock }: SendTestDeps,
  { channel, id: target, own }: NotificationTarget,
  { notification }: Message,
  result: SendResult,
): Promise<void> => {
  await store.update(getRateLimitKey(channel, target), TargetRateLimit, (before) => {
    const [nowMs, restMs] = [clock.now(), () => 0]
    if (result.kind !== 'ok') return { value: recordFailedTest(before, result, nowMs) }
    const value = releaseSend(before, { episodes: [notification.episode], nowMs, result, restMs })
    const notified = own
      ? undefined
      : buildMisconfiguredTargetNotification({ channel, target }, before?.broken ?? null, value.broken, nowMs)
    return { value, outbox: notified ? [toOutboxMessage(notified)] : [] }
  })
}

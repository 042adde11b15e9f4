import { randomUUID } from 'node:crypto'
import { ChannelSettingsUpdate } from '#proto/alert-policy.ts'
import type { alerts } from '#proto/alerts.ts'
import type { TestMessageResult } from '#proto/channels.ts'
import type { ServiceHandlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { listSecretNames } from '#shared/config/setting.ts'
import type { RequestSender } from '#shared/net/net.ts'
import type { RequestPurpose } from '#shared/net/purposes.ts'
import { createNotFoundError } from '#shared/text/not-found.ts'
import { shortenText } from '#shared/text/strings.ts'
import type { ServiceContext } from '#shared/lifecycle/service.ts'
import { readSealKey } from '#shared/seal/config.ts'
import type { TransitKeyPair } from '#shared/seal/transit.ts'
import { openInstallationId } from '#shared/store/installation.ts'
import type { Channel, SendResult } from '../channels/channel.ts'
import { channels } from '../channels/index.ts'
import {
  type ChannelNetwork,
  type NotificationTarget,
  listEnabledTargets,
  resolveChannelVariables,
} from '../channels/targets.ts'
import { buildMisconfiguredTargetNotification } from './misconfigured-notification.ts'
import { readMessageSettings } from '../messages/message-settings.ts'
import { type Message, renderMessage } from '../messages/message.ts'
import { recordFailedTest, releaseSend, TargetRateLimit, getRateLimitKey } from './rate-limit.ts'
import { toOutboxMessage, type Notification } from '../notification.ts'
import type { Policy } from '../policy.ts'
import { decryptChannelEntry } from '../policy/saved-channels/entries.ts'
import { buildChannelEntry } from '../policy/saved-channels/save-channel.ts'
import type { PolicyStore } from '../stores/stores.ts'

/** Dependencies of test messages. */
export type SendTestDeps = Pick<ServiceContext, 'env' | 'store' | 'net' | 'clock'>

interface TestChannelDeps extends SendTestDeps {
  policy(): Promise<Policy>
  stores: { policy: Pick<PolicyStore, 'all'> }
  transit: Pick<TransitKeyPair, 'decrypt'>
}

/** Settings of a channel that are tested before they are saved. */
const ChannelDraft = ChannelSettingsUpdate.pick({ settings: true })

/**
 * Returns the handler that sends a test message to the targets of a channel and returns the results. It bypasses
 * routes, minimum severities and the outbox. Results of settings that are not saved are not recorded if other ones are.
 */
export const createTestChannelHandler = (
  deps: TestChannelDeps,
): Pick<ServiceHandlers<typeof alerts>, 'testChannel'> => ({
  testChannel: async ({ channel: id, target, encrypted, isCallerLocal }) => {
    const channel = requireKnownChannel(id)
    const saved = await deps.policy()
    const draft = encrypted === undefined ? undefined : await deps.transit.decrypt(encrypted, ChannelDraft)
    const policy = draft ? await applyDraft({ ...deps, isCallerLocal }, channel, saved, draft) : saved
    const secrets = listSecrets(channel, deps.env, policy)
    const found = selectTestTargets(deps.env, channel, target, policy)
    const isRecorded = draft === undefined || listPossibleTargets(deps.env, channel, saved).length === 0
    return Promise.all(found.map((each) => sendTestMessage(deps, each, { isRecorded, secrets })))
  },
})

const requireKnownChannel = (id: string): Channel => {
  const channel = channels.find((each) => each.id === id)
  if (channel) return channel
  throw createNotFoundError(
    'channel',
    id,
    channels.map((each) => each.id),
    'channel',
  )
}

/** Returns the policy as if the settings were saved, after the checks of saving them. */
const applyDraft = async (
  { env, net, stores, isCallerLocal }: TestChannelDeps & { isCallerLocal: boolean },
  channel: Channel,
  policy: Policy,
  draft: ChannelSettingsUpdate,
): Promise<Policy> => {
  const configured = policy.channels[channel.id]
  const deps = { env, net, store: stores.policy, fromFiles: configured?.fromFiles, isCallerLocal }
  const entry = await buildChannelEntry(deps, channel, draft)
  const { texts } = decryptChannelEntry(channel.id, entry, readSealKey(env))
  const { isLocal } = entry
  return { ...policy, channels: { ...policy.channels, [channel.id]: { ...configured, variables: texts, isLocal } } }
}

/** Returns the secrets of a channel, which a target may repeat in its response. */
const listSecrets = (channel: Channel, env: ServiceContext['env'], policy: Policy): string[] => {
  const variables = resolveChannelVariables(channel, env, policy.channels[channel.id])
  return listSecretNames(channel.settings).flatMap((name) => variables[name] ?? [])
}

/** Returns the targets of a channel, whether it is enabled or not. */
const listPossibleTargets = (env: ServiceContext['env'], channel: Channel, policy: Policy): NotificationTarget[] => {
  const configured = { variables: {}, ...policy.channels[channel.id], enabled: true }
  const enabled = { ...policy, channels: { ...policy.channels, [channel.id]: configured } }
  return listEnabledTargets({ channels: [channel], env, policy: enabled })
}

const selectTestTargets = (
  env: ServiceContext['env'],
  channel: Channel,
  name: string | undefined,
  policy: Policy,
): NotificationTarget[] => {
  const { id } = channel
  const possible = listPossibleTargets(env, channel, policy)
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

interface SendTestOptions {
  /** Whether the result is recorded; false if it says nothing about the saved target. */
  isRecorded?: boolean
  /** Texts to remove from the response. */
  secrets?: readonly string[]
}

/** Sends a test message to one target and returns the result. */
export const sendTestMessage = async (
  deps: SendTestDeps,
  target: NotificationTarget,
  { isRecorded = true, secrets = [] }: SendTestOptions = {},
): Promise<TestMessageResult> => {
  const { env, clock, store } = deps
  const origin = await openInstallationId(store)()
  const message = renderMessage(createTestNotification(clock.now()), { ...readMessageSettings(env), origin }, new Map())
  const recorder = recordResponse(deps.net, secrets)
  const result = await target.send(message, recorder.net)
  if (isRecorded) await recordTestResult(deps, target, message, result)
  const reason = result.kind === 'ok' ? (result.remark ?? null) : result.reason
  return { name: target.name, result: result.kind, reason, response: await recorder.last() }
}

/** Maximum length of the response text that is shown. */
const maxShownText = 200

/** Returns network access that records the last response, whose text is shown without `secrets`. */
const recordResponse = (net: ChannelNetwork, secrets: readonly string[]) => {
  let last: { status: number; tookMs: number; text: Promise<string> } | undefined
  const record =
    (send: RequestSender): RequestSender =>
    async (url, outgoing) => {
      const beganMs = performance.now()
      const response = await send(url, outgoing)
      const text = response
        .clone()
        .text()
        .catch(() => '')
      last = { status: response.status, tookMs: Math.round(performance.now() - beganMs), text }
      return response
    }
  return {
    net: {
      ...net,
      trusted: record(net.trusted),
      guarded: (purpose: RequestPurpose) => record(net.guarded(purpose)),
      local: { ...net.local, guarded: (purpose: RequestPurpose) => record(net.local.guarded(purpose)) },
    },
    last: async (): Promise<TestMessageResult['response']> => {
      if (!last) return null
      const text = secrets.reduce((shown, secret) => shown.replaceAll(secret, '[hidden]'), await last.text)
      return { ...last, text: shortenText(text.trim(), maxShownText) }
    },
  }
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

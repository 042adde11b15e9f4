import { channelList, type ChannelWords } from '#proto/channel-list.ts'
import type { AlertTarget, ChannelConfig, ChannelTestResult } from '#lib/api/alerting.ts'

/** Returns the name and description of a channel. Unknown channels of a newer service get their id as the name. */
export const findChannelWords = (id: string): ChannelWords => channelList[id] ?? { name: id, doc: '' }

/** Abbreviations in field names, with their spelling. */
const abbreviations: Readonly<Record<string, string>> = { url: 'URL', api: 'API', sid: 'SID', id: 'ID' }

/** Returns the label of a field. For example, `routingKey` becomes `Routing key`. */
export const formatFieldLabel = (field: string): string => {
  const words = field.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).split(' ')
  const text = words.map((word) => abbreviations[word] ?? word).join(' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** The state that a channel card shows. */
export type ChannelState = 'ready' | 'off' | 'missing' | 'broken'

export const getChannelState = (
  {
    configured,
    enabled,
    problem = null,
  }: Pick<ChannelConfig, 'configured' | 'enabled'> & Partial<Pick<ChannelConfig, 'problem'>>,
  targets: readonly AlertTarget[],
): ChannelState => {
  if (problem !== null) return 'broken'
  if (!configured) return 'missing'
  if (!enabled) return 'off'
  return targets.some(({ broken }) => broken !== null) ? 'broken' : 'ready'
}

/** Labels of send results. Results without a label are shown unchanged. */
const resultLabels: Readonly<Record<string, string>> = {
  ok: 'delivered',
  sent: 'delivered',
  retry: 'failed; will retry',
  permanent: 'rejected',
  config: 'rejected: invalid settings',
  dead: 'gave up after retries',
  dropped: 'dropped: no longer needed',
}

export const formatSendResult = (result: string): string => resultLabels[result] ?? result
export const isDelivered = (result: string): boolean => result === 'ok' || result === 'sent'

/** Describes the result of a test, for example `webhook: rejected – 404 Not Found`. */
export const describeTestResult = ({
  name,
  result,
  reason,
}: Pick<ChannelTestResult, 'name' | 'result' | 'reason'>): string =>
  `${name}: ${formatSendResult(result)}${reason ? ` – ${reason}` : ''}`

/** Describes the response of a target, for example `Response: HTTP 200 in 84 ms – ok`. */
export const describeTestResponse = ({ status, tookMs, text }: NonNullable<ChannelTestResult['response']>): string =>
  `Response: HTTP ${status} in ${tookMs} ms${text ? ` – ${text}` : ''}`

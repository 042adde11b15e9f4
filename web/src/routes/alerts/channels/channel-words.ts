import { channelList, type ChannelWords } from '#proto/channel-list.ts'
import type { AlertTarget, ChannelSettled, Tested } from '#lib/api/alerting.ts'

/** A newer release may know more channels, which go by their ids. */
export const channelWords = (id: string): ChannelWords => channelList[id] ?? { name: id, doc: '' }

/** Words that are not written like others. */
const written: Readonly<Record<string, string>> = { url: 'URL', api: 'API', sid: 'SID', id: 'ID' }

/** `routingKey` as `Routing key`. */
export const fieldLabel = (field: string): string => {
  const words = field.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).split(' ')
  const text = words.map((word) => written[word] ?? word).join(' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** What an operator should know of a channel before anything else. */
export type Standing = 'ready' | 'off' | 'missing' | 'broken'

export const standingOf = (
  {
    configured,
    enabled,
    problem = null,
  }: Pick<ChannelSettled, 'configured' | 'enabled'> & Partial<Pick<ChannelSettled, 'problem'>>,
  targets: readonly AlertTarget[],
): Standing => {
  if (problem !== null) return 'broken'
  if (!configured) return 'missing'
  if (!enabled) return 'off'
  return targets.some(({ broken }) => broken !== null) ? 'broken' : 'ready'
}

/** How a send ended; a newer service may know more, which are shown as they are. */
const ends: Readonly<Record<string, string>> = {
  ok: 'arrived',
  sent: 'arrived',
  retry: 'failed, and may pass',
  permanent: 'was refused',
  config: 'was refused: its settings are wrong',
  dead: 'was given up',
  dropped: 'was not needed any more',
}

export const sendEnd = (result: string): string => ends[result] ?? result
export const hasArrived = (result: string): boolean => result === 'ok' || result === 'sent'

/** `webhook: arrived`, `webhook: was refused – 404 Not Found`. */
export const testedWords = ({ name, result, reason }: Tested): string =>
  `${name}: ${sendEnd(result)}${reason ? ` – ${reason}` : ''}`

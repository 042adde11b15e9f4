import { hash } from 'node:crypto'
import type { Notification } from '../notification.ts'
import { type RenderSettings, type Message, type NamedHost, renderGroupLine, renderMessage } from './message.ts'

type NotificationList = readonly [Notification, ...Notification[]]

/** Returns one message about several conditions with the same severity and phase. */
export const renderGroupMessage = (
  notifications: NotificationList,
  frame: RenderSettings,
  hosts: ReadonlyMap<string, NamedHost>,
): Message => {
  const [first] = notifications
  const isOneRule = notifications.every(({ title, ruleId }) => title === first.title && ruleId === first.ruleId)
  const group = buildGroupNotification(notifications, isOneRule)
  // Without a single host, the changes would be those of the first one.
  const message = renderMessage(group, group.hostKey === null ? { ...frame, changes: [] } : frame, hosts)
  const gathered = notifications.map((notification) => renderGroupLine(notification, hosts, isOneRule))
  return { ...message, members: notifications, gathered }
}

const buildGroupNotification = (notifications: NotificationList, isOneRule: boolean): Notification => {
  const [first] = notifications
  // A group of the same notifications always has the same id, so that targets can drop a repeated message.
  const names = notifications.map(({ id }) => id).toSorted()
  const episode = `group:${hash('sha256', names.join(' ')).slice(0, 32)}`
  const isOneHost = notifications.every(({ hostKey }) => hostKey === first.hostKey)
  return {
    ...first,
    id: `${episode}:0`,
    // Escalations are grouped with firing conditions.
    kind: first.kind === 'escalate' ? 'fire' : first.kind,
    episode,
    sequence: 0,
    hostKey: isOneHost ? first.hostKey : null,
    source: null,
    ruleId: isOneRule ? first.ruleId : groupRuleId,
    title: buildTitle(notifications, isOneRule, isOneHost),
    value: null,
    threshold: null,
    offenders: [],
    runbook: isOneRule ? first.runbook : '',
    sinceMs: Math.min(...notifications.map(({ sinceMs }) => sinceMs)),
    atMs: Math.max(...notifications.map(({ atMs }) => atMs)),
    reason: 'grouped: several conditions changed at once',
    gathered: [],
  }
}

/** Rule id of a message about several rules. */
const groupRuleId = 'group'

/** Returns a title such as `Host unreachable on 500 hosts` or `12 conditions on 4 hosts`. */
const buildTitle = (notifications: NotificationList, isOneRule: boolean, isOneHost: boolean): string => {
  const [{ title }] = notifications
  const hosts = new Set(notifications.flatMap(({ hostKey }) => hostKey ?? [])).size
  const on = isOneHost || hosts === 0 ? '' : ` on ${hosts} ${hosts === 1 ? 'host' : 'hosts'}`
  if (isOneRule && hosts === notifications.length) return `${title}${on}`
  return `${isOneRule ? `${title}: ` : ''}${notifications.length} conditions${on}`
}

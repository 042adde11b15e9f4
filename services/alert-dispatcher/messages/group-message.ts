import { hash } from 'node:crypto'
import type { Notice } from '../notice.ts'
import { type Frame, type Message, type NamedHost, memberLine, messageOf } from './message.ts'

type Notices = readonly [Notice, ...Notice[]]

/** One message about several conditions of one severity, which all begin, go on or end. */
export const groupMessageOf = (notices: Notices, frame: Frame, hosts: ReadonlyMap<string, NamedHost>): Message => {
  const [first] = notices
  const isOneRule = notices.every(({ title, ruleId }) => title === first.title && ruleId === first.ruleId)
  const message = messageOf(groupNoticeOf(notices, isOneRule), frame, hosts)
  const gathered = notices.map((notice) => memberLine(notice, hosts, isOneRule))
  return { ...message, members: notices, gathered }
}

const groupNoticeOf = (notices: Notices, isOneRule: boolean): Notice => {
  const [first] = notices
  // The same conditions again have the same name, so that a target with ids of its own takes them once.
  const names = notices.map(({ id }) => id).toSorted()
  const episode = `group:${hash('sha256', names.join(' ')).slice(0, 32)}`
  const isOneHost = notices.every(({ hostKey }) => hostKey === first.hostKey)
  return {
    ...first,
    id: `${episode}:0`,
    // An escalation among fires is one of the conditions that begin.
    kind: first.kind === 'escalate' ? 'fire' : first.kind,
    episode,
    sequence: 0,
    hostKey: isOneHost ? first.hostKey : null,
    source: null,
    ruleId: isOneRule ? first.ruleId : groupRule,
    title: titleOf(notices, isOneRule, isOneHost),
    value: null,
    threshold: null,
    offenders: [],
    runbook: isOneRule ? first.runbook : '',
    sinceMs: Math.min(...notices.map(({ sinceMs }) => sinceMs)),
    atMs: Math.max(...notices.map(({ atMs }) => atMs)),
    reason: 'grouped, as many came at once',
    gathered: [],
  }
}

/** Stands for the rule in a message about conditions of several rules. */
const groupRule = 'group'

/** `Host unreachable on 500 hosts`, or `12 conditions on 4 hosts`. */
const titleOf = (notices: Notices, isOneRule: boolean, isOneHost: boolean): string => {
  const [{ title }] = notices
  const hosts = new Set(notices.flatMap(({ hostKey }) => hostKey ?? [])).size
  const on = isOneHost || hosts === 0 ? '' : ` on ${hosts} ${hosts === 1 ? 'host' : 'hosts'}`
  if (isOneRule && hosts === notices.length) return `${title}${on}`
  return `${isOneRule ? `${title}: ` : ''}${notices.length} conditions${on}`
}

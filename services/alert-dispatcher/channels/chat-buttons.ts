import { chatActions, type ChatSubject } from '#proto/chat-application.ts'
import type { Message } from '../delivery/message.ts'

/** Only Slack's own applications have buttons; what else takes its shape would refuse or drop them. */
const slackHosts = /^hooks\.slack(-gov)?\.com$/
/** A recovery needs no answer, and a digest or a group is about more than one condition. */
const answerable: ReadonlySet<string> = new Set(['fire', 'escalate', 'remind'])

/** The buttons under an alert, as one more attachment; none where nobody would hear of a click. */
export const chatButtons = ({ notice, members, isInteractive }: Message, address: URL): object[] => {
  if (!isInteractive || members.length > 0 || !answerable.has(notice.kind) || !slackHosts.test(address.hostname))
    return []
  const { episode, hostKey, ruleId } = notice
  const value = JSON.stringify({ episode, hostKey, ruleId } satisfies ChatSubject)
  const button = (action_id: string, text: string, more: object) => ({
    type: 'button',
    action_id,
    text: { type: 'plain_text', text },
    value,
    ...more,
  })
  const elements = [
    button(chatActions.acknowledge, 'Acknowledge', { style: 'primary' }),
    button(chatActions.dismiss, 'Dismiss', { confirm: confirmDismissal }),
  ]
  return [{ fallback: 'Acknowledge or dismiss', blocks: [{ type: 'actions', elements }] }]
}

const confirmDismissal = {
  title: { type: 'plain_text', text: 'Dismiss this alert?' },
  text: { type: 'plain_text', text: 'Nobody is told of it any more until it recovers.' },
  confirm: { type: 'plain_text', text: 'Dismiss' },
  deny: { type: 'plain_text', text: 'Keep' },
}

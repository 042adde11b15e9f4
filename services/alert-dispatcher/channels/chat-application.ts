import { flag, read } from '#shared/config/setting.ts'
import type { Send } from '#shared/net/net.ts'
import type { OpenInstallation } from '../chat-application/installation.ts'
import type { Message } from '../messages/message.ts'
import { severityFloor } from '../messages/message-settings.ts'
import type { Channel, SendResult } from './channel.ts'
import { exchange } from './channel-request.ts'
import { chatBody, judgeChat } from './webhook.ts'

const settings = {
  HEALTH_ALERT_CHATAPP_ENABLED: flag(true, 'Whether the chats that the chat application is installed for get alerts.'),
  HEALTH_ALERT_CHATAPP_MIN_SEVERITY: severityFloor('Least severity that the chats of the chat application get.'),
} as const

/**
 * The chats that people installed the application for, each with the address that its service gave.
 * A message that is sent twice is shown twice; a recovery is a message.
 */
export const chatApplication: Channel = {
  id: 'chat-application',
  settings,
  isPaging: false,
  announces: true,
  // Slack takes one a second for each address.
  limits: { concurrency: 2, perSecond: 1, burst: 5, groupAfter: 3 },
  targets(env, { chatApplications }) {
    const given = read(settings, env)
    return chatApplications.map((installation) => ({
      id: installation.id,
      name: nameOf(installation, chatApplications),
      isEnabled: given.HEALTH_ALERT_CHATAPP_ENABLED,
      minSeverity: given.HEALTH_ALERT_CHATAPP_MIN_SEVERITY ?? null,
      // The chat service gave it: no more than whoever saves an address may it lead inside.
      isSaved: true,
      send: (message: Message, way: Send) => post(installation, message, way),
    }))
  },
}

/** As people call the chat, with its workspace where another has one of the same name. */
const nameOf = ({ id, chat, workspace }: OpenInstallation, all: readonly OpenInstallation[]): string =>
  all.some((each) => each.id !== id && each.chat === chat) ? `${chat} (${workspace})` : chat

const post = ({ url }: OpenInstallation, message: Message, way: Send): Promise<SendResult> =>
  exchange(way, {
    url,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(chatBody(message, { address: new URL(url) })),
    judge: judgeChat,
  })

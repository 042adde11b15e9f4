import { flagSetting, parseSettings } from '#shared/config/setting.ts'
import type { RequestSender } from '#shared/net/net.ts'
import type { DecryptedInstallation } from '../chat-application/installation.ts'
import type { Message } from '../messages/message.ts'
import { createMinSeveritySetting } from '../messages/message-settings.ts'
import type { Channel, SendResult } from './channel.ts'
import { sendChannelRequest } from './channel-request.ts'
import { buildChatBody, classifyChatResponse } from './webhook.ts'

const settings = {
  HEALTH_ALERT_CHATAPP_ENABLED: flagSetting(
    true,
    'Whether Slack channels with the installed application receive alerts.',
  ),
  HEALTH_ALERT_CHATAPP_MIN_SEVERITY: createMinSeveritySetting(
    'Minimum severity for Slack channels with the installed application.',
  ),
} as const

/**
 * Slack channels with the installed application, each with its own webhook URL. A message sent twice is shown twice; a
 * recovery is a separate message.
 */
export const chatApplicationChannel: Channel = {
  id: 'chat-application',
  settings,
  isPaging: false,
  announces: true,
  // Slack allows one message a second per URL.
  limits: { concurrency: 2, perSecond: 1, burst: 5, groupAfter: 3 },
  targets(env, { chatApplications }) {
    const values = parseSettings(settings, env)
    return chatApplications.map((installation) => ({
      id: installation.id,
      name: getChannelName(installation, chatApplications),
      isEnabled: values.HEALTH_ALERT_CHATAPP_ENABLED,
      minSeverity: values.HEALTH_ALERT_CHATAPP_MIN_SEVERITY ?? null,
      // The URL comes from Slack and, like saved addresses, must not reach internal networks.
      isSaved: true,
      send: (message: Message, way: RequestSender) => postMessage(installation, message, way),
    }))
  },
}

/** Returns the channel name, with its workspace if the name is used twice. */
const getChannelName = (
  { id, chat, workspace }: DecryptedInstallation,
  all: readonly DecryptedInstallation[],
): string => (all.some((each) => each.id !== id && each.chat === chat) ? `${chat} (${workspace})` : chat)

const postMessage = ({ url }: DecryptedInstallation, message: Message, way: RequestSender): Promise<SendResult> =>
  sendChannelRequest(way, {
    url,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(buildChatBody(message, { address: new URL(url) })),
    classify: classifyChatResponse,
  })

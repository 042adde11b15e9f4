import { z } from 'zod'
import { chatActions, ChatInstallation, ChatInstallationId } from '../chat-application.ts'
import { answer } from './answer.ts'
import { text } from './parameters.ts'

const { installedAtMs: _at, ...shown } = ChatInstallation.shape
/** A chat that the application is installed for. */
export const ChatInstallationShown = z.object({ ...shown, installedAt: z.iso.datetime() })
export type ChatInstallationShown = z.infer<typeof ChatInstallationShown>

/** `GET /api/v1/health/chat-application` */
export const ChatApplicationAnswer = answer(
  z.object({
    /** Whether alerts in chats have buttons. */
    interactive: z.boolean(),
    /** Variables that are missing to install it. */
    missing: z.array(z.string()),
    installations: z.array(ChatInstallationShown),
  }),
  z.object({ count: z.int() }),
)

/** `GET /api/v1/health/chat-application/callback`: what the chat service sends people back with. */
export const ChatCallbackQuery = z.object({
  state: text.min(1, 'must not be empty').max(64),
  code: text.min(1, 'must not be empty').max(1_024).optional(),
  /** Why it was not installed, in a word of the chat service. */
  error: text.max(128).optional(),
})

/** The path of one installation. */
export const ChatInstallationPath = z.object({ id: ChatInstallationId })
/** An installation that was removed. */
export const ChatInstallationAnswer = answer(ChatInstallationShown, z.object({}))

const word = z.string().min(1).max(256)
/** The form that the chat service sends when somebody presses a button: JSON in the field `payload`. */
export const ChatActionForm = z.object({ payload: z.string() })

/** What is read of a click. */
export const ChatAction = z.object({
  type: z.literal('block_actions', 'must be block_actions'),
  team: z.object({ id: word }),
  user: z.object({ id: word, username: word.optional(), name: word.optional() }),
  actions: z.tuple([
    z.object({
      action_id: z.enum(Object.values(chatActions), `must be one of ${Object.values(chatActions).join(', ')}`),
      value: z.string().max(2_000),
    }),
  ]),
  response_url: z.url({
    protocol: /^https$/,
    hostname: /^hooks\.slack(-gov)?\.com$/,
    error: 'must be an address of the chat service',
  }),
})
export type ChatAction = z.infer<typeof ChatAction>

/** `POST /api/webhooks/chat-application`: what was done, as the chat was told too. */
export const ChatActionAnswer = answer(z.object({ said: z.string() }), z.object({}))

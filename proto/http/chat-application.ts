import { z } from 'zod'
import { chatActions, ChatInstallation, ChatInstallationId } from '../chat-application.ts'
import { createResponseSchema } from './response.ts'
import { textParameter } from './parameters.ts'

const { installedAtMs: _at, ...shown } = ChatInstallation.shape
/** A chat that the application is installed for. */
export const ChatInstallationView = z.object({ ...shown, installedAt: z.iso.datetime() })
export type ChatInstallationView = z.infer<typeof ChatInstallationView>

/** Response of `GET /api/v1/health/chat-application`. */
export const ChatApplicationResponse = createResponseSchema(
  z.object({
    /** Whether alerts in chats have buttons. */
    interactive: z.boolean(),
    /** Names of variables that the installation requires and that are not set. */
    missing: z.array(z.string()),
    installations: z.array(ChatInstallationView),
  }),
  z.object({ count: z.int() }),
)

/** `GET /api/v1/health/chat-application/callback`: the parameters that the chat service adds to its redirect. */
export const ChatCallbackQuery = z.object({
  state: textParameter.min(1, 'must not be empty').max(64),
  code: textParameter.min(1, 'must not be empty').max(1_024).optional(),
  /** The error code of the chat service. */
  error: textParameter.max(128).optional(),
})

/** Path parameters of requests about one installation. */
export const ChatInstallationPath = z.object({ id: ChatInstallationId })
/** Response of the request that removes an installation: the removed installation. */
export const ChatInstallationResponse = createResponseSchema(ChatInstallationView, z.object({}))

const word = z.string().min(1).max(256)
/** The form that the chat service sends for a pressed button: JSON in the field `payload`. */
export const ChatActionForm = z.object({ payload: z.string() })

/** The payload of a pressed button, reduced to the fields that the product reads. */
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

/** Response of `POST /api/webhooks/chat-application`: the text that is also posted to the chat. */
export const ChatActionResponse = createResponseSchema(z.object({ said: z.string() }), z.object({}))

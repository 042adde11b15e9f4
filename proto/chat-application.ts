import { z } from 'zod'
import { rpc } from './contract.ts'

/** Id of an installation: the ids of the workspace and of the chat, joined by a dash. */
export const ChatInstallationId = z
  .string()
  .regex(/^[A-Z0-9]{1,32}-[A-Z0-9]{1,32}$/, 'must be the id of an installation, such as T0123-C0123')

/** One chat that the application was installed for, without its secrets. */
export const ChatInstallation = z.object({
  id: ChatInstallationId,
  workspace: z.string().max(256),
  /** The name in the chat service, such as `#alerts`. */
  chat: z.string().max(256),
  /** Subject of the user who installed it. */
  installedBy: z.string().max(256),
  installedAtMs: z.int(),
})
export type ChatInstallation = z.infer<typeof ChatInstallation>

/** The condition that a chat button refers to, by host and rule, or only by episode if it has no host. */
export const ChatButtonCondition = z.object({
  episode: z.string().min(1).max(160),
  hostKey: z.string().min(1).max(128).nullable(),
  ruleId: z.string().min(1).max(160),
})
export type ChatButtonCondition = z.infer<typeof ChatButtonCondition>

/** The action ids of the buttons of an alert in the chat service. */
export const chatActions = { acknowledge: 'watchhouse-ack', dismiss: 'watchhouse-dismiss' } as const

const common = { callers: ['gateway'], feature: 'HEALTH' } as const
/** The OAuth code of an installation. */
const Code = z.string().min(1).max(1_024)

/** Methods for the Slack application, which posts alerts and handles their buttons. */
export const chatApplicationMethods = {
  chatApplication: rpc({
    ...common,
    doc: 'Returns the installations of the chat application, and the variables that are missing to install it.',
    safe: true,
    input: z.object({}),
    output: z.object({
      /** Whether alerts get buttons. */
      interactive: z.boolean(),
      missing: z.array(z.string().max(64)),
      installations: z.array(ChatInstallation),
    }),
  }),
  chatApplicationPage: rpc({
    ...common,
    doc: 'Returns the installation page of the chat service; `not-implemented` with the missing variables.',
    safe: true,
    /** The chat service returns `state` in its redirect. */
    input: z.object({ state: z.string().min(1).max(256) }),
    output: z.object({ location: z.string() }),
  }),
  installChatApplication: rpc({
    ...common,
    doc: 'Completes an installation with the code of the chat service; for an installed chat it replaces the secrets.',
    input: z.object({ code: Code }),
    output: ChatInstallation,
  }),
  removeChatApplication: rpc({
    ...common,
    doc: 'Removes an installation; revokes the token of a workspace with its last installation.',
    input: z.object({ id: ChatInstallationId }),
    output: ChatInstallation,
  }),
}

import { z } from 'zod'
import { rpc } from './contract.ts'

/** Names one installation: the workspace and the chat in it. */
export const ChatInstallationId = z
  .string()
  .regex(/^[A-Z0-9]{1,32}-[A-Z0-9]{1,32}$/, 'must be the id of an installation, such as T0123-C0123')

/** One chat that the application was installed for, without its secrets. */
export const ChatInstallation = z.object({
  id: ChatInstallationId,
  workspace: z.string().max(256),
  /** As the chat service writes it, such as `#alerts`. */
  chat: z.string().max(256),
  /** Subject of who installed it. */
  installedBy: z.string().max(256),
  installedAtMs: z.int(),
})
export type ChatInstallation = z.infer<typeof ChatInstallation>

/** What a button of an alert names: the condition, by host and rule or, where it has no host, by its episode alone. */
export const ChatSubject = z.object({
  episode: z.string().min(1).max(160),
  hostKey: z.string().min(1).max(128).nullable(),
  ruleId: z.string().min(1).max(160),
})
export type ChatSubject = z.infer<typeof ChatSubject>

/** The buttons under an alert, as the chat service names them when one is pressed. */
export const chatActions = { acknowledge: 'watchhouse-ack', dismiss: 'watchhouse-dismiss' } as const

const common = { callers: ['gateway'], feature: 'HEALTH' } as const
/** What the application was installed with, to be shown to the chat service again; means nothing to anybody else. */
const Code = z.string().min(1).max(1_024)

/** Methods about the chat application, which tells alerts and takes what people say to them. */
export const chatApplicationMethods = {
  chatApplication: rpc({
    ...common,
    doc: 'Where the chat application is installed, and which variables are missing to install it.',
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
    doc: 'The page of the chat service where somebody installs the application; `not-implemented` naming what is missing.',
    safe: true,
    /** Comes back with them. */
    input: z.object({ state: z.string().min(1).max(256) }),
    output: z.object({ location: z.string() }),
  }),
  installChatApplication: rpc({
    ...common,
    doc: 'Completes an installation with the code that the chat service gave; the same chat again replaces its secrets.',
    input: z.object({ code: Code }),
    output: ChatInstallation,
  }),
  removeChatApplication: rpc({
    ...common,
    doc: 'Forgets an installation; with the last of a workspace its token is revoked.',
    input: z.object({ id: ChatInstallationId }),
    output: ChatInstallation,
  }),
}

import { flag } from '#shared/config/setting.ts'

/** Whether conversations of people are kept by the server; the web and the server must agree, so it is settled when the web is built. */
export const conversationFeatureSettings = {
  SVC_FEATURE_CONVERSATION_DB: flag(
    false,
    'Keep conversations of people who are signed in by the identity provider on the server. Set it when the web is built: at run time it changes nothing.',
    { audience: 'client' },
  ),
} as const

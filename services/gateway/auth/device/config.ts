import type { Environment } from '#shared/config/environment.ts'
import { optionalFlagSetting, type Setting, type SettingProblem, textSetting } from '#shared/config/setting.ts'
import { edgeBindingSettings, findUnsharedFileProblems } from '#shared/store/edge-binding.ts'

const maxSubjectLength = 256

const subject = (fallback: string, doc: string): Setting<string> => ({
  ...textSetting(fallback, doc),
  allowed: `text of at most ${maxSubjectLength} characters`,
  parse: (given = fallback) => {
    if (given.length <= maxSubjectLength) return given
    throw new Error(`must not be longer than ${maxSubjectLength} characters`)
  },
})

/** Settings of device login. */
export const deviceSettings = {
  SVC_DEVICE_LOGIN: {
    ...optionalFlagSetting(
      'Device login for command-line tools; requires SVC_API_KEY_SECRET. auto: on in cloud mode only. With provider none, the operator approves devices.',
    ),
    fallback: 'auto',
    allowed: 'auto, true/1/yes/on, false/0/no/off',
  },
  SVC_DEVICE_LOGIN_SUBJECT: subject('self-hosted', 'Subject of API keys that the operator approves for a device.'),
  ...edgeBindingSettings,
} as const

/** Returns an error if the edge SQL binding is a local file although several processes share a bus. */
export const findDeviceLoginProblems = (env: Environment): readonly SettingProblem[] =>
  findUnsharedFileProblems(['CONVERSATIONS_EDGESQL'], env)

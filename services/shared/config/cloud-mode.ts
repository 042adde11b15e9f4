import type { Environment } from './environment.ts'
import { flag, optional, read } from './setting.ts'

/** What turns cloud mode on when the product runs. */
export const cloudSettings = {
  SVC_CLOUD_MODE: flag(false, 'Cloud mode; must also be set when the web is built.', { alsoTrue: ['cloud'] }),
  SVC_DEPLOYMENT_MODE: optional('Deployment mode; cloud turns cloud mode on.'),
} as const

/** Whether the running product is in cloud mode, however the web was built. */
export const inCloudMode = (env: Environment): boolean => {
  const { SVC_CLOUD_MODE, SVC_DEPLOYMENT_MODE } = read(cloudSettings, env)
  return SVC_CLOUD_MODE || SVC_DEPLOYMENT_MODE?.trim().toLowerCase() === 'cloud'
}

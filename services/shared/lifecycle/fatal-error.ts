import type { Environment } from '../config/environment.ts'
import { redactionPlaceholder, isSecretName, removeCredentials } from '../telemetry/redact.ts'

/**
 * Minimum length of hidden values. Shorter values are often words such as `true`; hiding them would make the text
 * unreadable.
 */
const minSecretLength = 6

/**
 * Formats the error that ends the process for standard error: one line, or the stack trace at log level debug or trace.
 * Secrets are hidden.
 */
export const formatFatalError = (error: unknown, env: Environment): string => {
  const isVerbose = env.LOG_LEVEL === 'debug' || env.LOG_LEVEL === 'trace'
  const stack = error instanceof Error ? error.stack : undefined
  if (isVerbose && stack !== undefined) return `watchhouse stopped by an error: ${hideSecrets(stack, env)}\n`
  const line = hideSecrets(String(error), env).replaceAll(/\s*\n\s*/g, '; ')
  return `watchhouse stopped by an error: ${line}; set LOG_LEVEL=debug for its stack trace\n`
}

const hideSecrets = (text: string, env: Environment): string => {
  const secrets = Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && value.length >= minSecretLength && isSecretName(name) ? [value] : [],
  )
  return removeCredentials(secrets.reduce((shown, secret) => shown.replaceAll(secret, redactionPlaceholder), text))
}

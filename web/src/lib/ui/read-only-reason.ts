/** Returns why the current user cannot change settings, or null if they can. */
export const findReadOnlyReason = (mayWrite: boolean | undefined, persistent: boolean | undefined): string | null => {
  if (mayWrite === false) return 'Read-only access: sign in with write access to change settings.'
  if (persistent !== false) return null
  return 'Changes require a state database: set SVC_DATA_DIRECTORY or SVC_STATE_DB_URL. Settings in files and variables still apply.'
}

/** Labels of setting sources. Unknown sources are shown as they are. */
const sourceLabels: Readonly<Record<string, string>> = {
  database: 'set here',
  file: 'from file',
  environment: 'from environment',
  default: 'default',
  rule: 'rule default',
}

export const formatSettingSource = (source: string): string => sourceLabels[source] ?? source

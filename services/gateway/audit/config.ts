import { whole } from '#shared/config/setting.ts'

/** How long it is remembered who did what. */
export const auditSettings = {
  SVC_AUDIT_DAYS: whole(365, 'Age in days at which audit records are removed.', { min: 1, max: 3_650 }),
} as const

import type { GeneralSettings } from '#lib/api/alerting.ts'
import type { RouteBody } from '#lib/api/call.ts'

/** The interval of sweeps that is saved if none is set, in minutes. */
const defaultMinutes = 5

const isSaved = ({ source }: { source: string }): boolean => source === 'database'

/**
 * Returns the settings that enable alerting. A saved change replaces all saved settings, so it contains those that are
 * saved already. Settings of variables cannot be changed.
 */
export const enableAlerting = (general: GeneralSettings): RouteBody<'PUT /api/v1/health/alert-config'> => {
  const { enabled, minSeverity, cooldownMinutes, breaches, clears, sweepMinutes } = general
  const interval = sweepMinutes?.value || defaultMinutes
  return {
    // By default, alerting starts with the first channel. What fires before must wait for it.
    ...(enabled.source !== 'default' && { enabled: true }),
    ...(isSaved(minSeverity) && { minSeverity: minSeverity.value }),
    ...(isSaved(cooldownMinutes) && { cooldownMinutes: cooldownMinutes.value }),
    ...(isSaved(breaches) && { breaches: breaches.value }),
    ...(isSaved(clears) && { clears: clears.value }),
    ...(sweepMinutes && sweepMinutes.source !== 'environment' && { sweepMinutes: interval }),
  }
}

// Runs before the first paint, so that what was chosen never flashes as something else.
try {
  const theme = localStorage.getItem('theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
  const { palette, density } = JSON.parse(localStorage.getItem('preferences') ?? '{}')
  if (palette === 'colour-blind' || palette === 'grey') document.documentElement.dataset.palette = palette
  if (density === 'comfortable') document.documentElement.dataset.density = density
} catch {
  // Storage may be forbidden; then what the system and the style sheet say holds.
}

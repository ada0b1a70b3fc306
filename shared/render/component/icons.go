package component

// The few drawings that components use themselves, on a 24 by 24 grid with a
// stroke of the text's colour.
const (
	svgHead     = `<svg class="icon bdy-icon" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">`
	noteIcon    = svgHead + `<circle cx="12" cy="12" r="9"/><path d="M12 11v5M12 8h.01"/></svg>`
	tipIcon     = svgHead + `<path d="M9 17h6M10 20.5h4M12 3a6 6 0 0 0-3.6 10.8c.4.3.6.8.6 1.2h6c0-.4.2-.9.6-1.2A6 6 0 0 0 12 3z"/></svg>`
	warningIcon = svgHead + `<path d="M12 4 2.8 20h18.4zM12 10v4M12 17h.01"/></svg>`
	dangerIcon  = svgHead + `<path d="M8 3h8l5 5v8l-5 5H8l-5-5V8zM12 8v5M12 16h.01"/></svg>`
	checkIcon   = svgHead + `<circle cx="12" cy="12" r="9"/><path d="m8.5 12.5 2.5 2.5 4.5-5.5"/></svg>`
	arrowIcon   = svgHead + `<path d="M7 17 17 7M9 7h8v8"/></svg>`
	fileIcon    = svgHead + `<path d="M14 3H7a1 1 0 0 0-1 1v16a1 1 0 0 0 1 1h10a1 1 0 0 0 1-1V7zM14 3v4h4"/></svg>`
	folderIcon  = svgHead + `<path d="M3 6a1 1 0 0 1 1-1h5l2 2.5h9a1 1 0 0 1 1 1V18a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1z"/></svg>`
)

GET /web/app.js


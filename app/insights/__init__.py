"""What people search for: counted by day without addresses or cookies, and reported."""
